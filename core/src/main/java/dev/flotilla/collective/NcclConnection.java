package dev.flotilla.collective;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.Environment;
import dev.flotilla.memory.TensorScope;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.bytedeco.javacpp.chrono.Milliseconds;
import org.bytedeco.pytorch.Work;
import org.bytedeco.pytorch.nccl.ProcessGroupNCCL;

/** Connects the GPUs of a group by NCCL, and waits for what they do. */
final class NcclConnection {

  private static final long PAUSE_NANOS = 20_000;

  private NcclConnection() {}

  /** Connects the GPUs of all ranks of a roster; all of them must be there. */
  static NativeGroup open(
      MeetingPoint store,
      String prefix,
      Roster roster,
      int rank,
      ComputeDevice device,
      CollectiveSettings settings) {
    // Whoever awaits an operation learns of its failure; libtorch would abort the process first.
    Environment.set("TORCH_NCCL_ASYNC_ERROR_HANDLING", "0");
    if (roster.isOnLoopback()) {
      Environment.setIfAbsent("NCCL_SOCKET_IFNAME", "lo");
    }
    try (var _ = TensorScope.open();
        var _ = NativeOutput.held()) {
      var options = ProcessGroupNCCL.Options.create();
      options.timeout(new Milliseconds(settings.timeout().toMillis()));
      var group = new ProcessGroupNCCL(store.part(prefix), rank, roster.size(), options);
      group.eagerConnectSingleDevice(device.handle());
      TensorScope.keep(group);
      return new NativeGroup(group, roster, hasFailed -> leave(group, hasFailed));
    } catch (RuntimeException e) {
      throw new RendezvousException(
          ("%s could not connect %s to the GPUs of the other ranks by NCCL (%s); NCCL_DEBUG=INFO"
                  + " says more, and --backend gloo does without")
              .formatted(roster.self(), device, NativeText.firstLine(e)),
          e);
    }
  }

  private static void leave(ProcessGroupNCCL group, boolean hasFailed) {
    if (hasFailed) {
      group.abort();
    } else {
      group.shutdown();
    }
  }

  /** Waits until the GPU has done it; libtorch's own waiting looks once a millisecond. */
  static void await(Work work, Duration timeout) {
    var deadline = Deadline.in(timeout);
    while (!work.isCompleted() && !deadline.hasPassed()) {
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    // Throws what has gone wrong, or that the time is over; later kernels wait for this one.
    try (var nothing = new Milliseconds(1)) {
      work._wait(nothing);
    }
  }
}
