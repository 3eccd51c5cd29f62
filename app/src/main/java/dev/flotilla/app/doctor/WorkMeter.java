package dev.flotilla.app.doctor;

import dev.flotilla.app.doctor.Measured.Busy;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Link;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.TensorScope;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import org.bytedeco.pytorch.global.torch;

/**
 * Measures what exchanging and computing take from each other.
 *
 * <p>Threads on all cores count, by turns while tensors travel and while none do. What they count
 * less is the work of the exchange, wherever it is done: sums, copies, the kernel's part. And
 * tensors travel more slowly than between idle cores, as their threads wait for a core.
 */
final class WorkMeter implements AutoCloseable {

  private static final int TURNS = 8;
  private static final double TURN_SECONDS = 0.06;

  /** Ranks that have to wait for a core for each message take many times as long as planned. */
  private static final double MOST_SECONDS = 2;

  private static final int LEAST_BYTES = 1 << 16;
  private static final int MOST_BYTES = 1 << 20;
  private static final int MOST_MESSAGES = 256;

  /** An exchange that takes longer leaves the cores alone anyway. */
  private static final double LONG_SECONDS = 0.2;

  private static final int STRIDE = 1000;

  private final Collective ranks;
  private final LongAdder counted = new LongAdder();
  private final List<Thread> computing;
  private volatile boolean isOver;

  private WorkMeter(Collective ranks, int threads) {
    this.ranks = ranks;
    computing =
        Stream.generate(() -> Thread.ofPlatform().daemon().start(this::compute))
            .limit(threads)
            .toList();
  }

  /**
   * Measures; all ranks call it together and get the same answer, that of the rank which loses
   * most.
   *
   * @param threads that compute in each rank
   * @param link what an all-reduce takes between idle cores
   */
  static Busy measure(Collective ranks, int threads, Link link) {
    if (link.allReduce(LEAST_BYTES) > LONG_SECONDS) {
      return Busy.UNKNOWN;
    }
    try (var meter = new WorkMeter(ranks, threads)) {
      return meter.measure(link);
    }
  }

  private Busy measure(Link link) {
    int elements =
        (int) Math.clamp(TURN_SECONDS / link.secondsPerByte(), LEAST_BYTES, MOST_BYTES)
            / Float.BYTES;
    int messages =
        (int) Math.clamp(TURN_SECONDS / link.allReduce(4.0 * elements), 1, MOST_MESSAGES);
    var alone = new Stretch();
    var behind = new Stretch();
    rest();
    int turns = 0;
    do {
      turns++;
      ranks.barrier();
      alone.add(WorkMeter::rest);
      ranks.barrier();
      behind.add(() -> exchange(elements, messages));
    } while (turns < TURNS
        && Link.largest(ranks, alone.seconds + behind.seconds)[0] < MOST_SECONDS);
    double n = ranks.size();
    double sent = turns * messages * 4.0 * elements * 2 * (n - 1) / n;
    double moving = behind.seconds - turns * messages * link.latency();
    double lost = behind.seconds * (1 - behind.rate() / alone.rate());
    var slowest = Link.largest(ranks, moving / sent, Math.max(0, lost) / sent);
    return new Busy(Math.max(slowest[0], link.secondsPerByteSent(ranks.size())), slowest[1]);
  }

  private void exchange(int elements, int messages) {
    try (var _ = TensorScope.open()) {
      var tensor = ComputeDevice.CPU.zeros(torch.ScalarType.Float, elements);
      for (int i = 0; i < messages; i++) {
        ranks.allReduce(tensor, Reduction.SUM, Traffic.SCALAR).await();
      }
    }
  }

  private static void rest() {
    try {
      Thread.sleep(Math.round(1e3 * TURN_SECONDS));
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", stopped);
    }
  }

  /** Stretches of time of one kind, and what was counted in them. */
  private final class Stretch {

    private double seconds;
    private double count;

    void add(Runnable meanwhile) {
      long before = counted.sum();
      long start = System.nanoTime();
      meanwhile.run();
      seconds += (System.nanoTime() - start) / 1e9;
      count += counted.sum() - before;
    }

    double rate() {
      return count / seconds;
    }
  }

  /** Computes what no compiler can leave out. */
  private void compute() {
    long state = 1;
    while (!isOver) {
      for (int i = 0; i < STRIDE; i++) {
        state ^= state << 13;
        state ^= state >>> 7;
        state ^= state << 17;
      }
      counted.add(state == 0 ? 0 : 1);
    }
  }

  @Override
  public void close() {
    isOver = true;
    try {
      for (var thread : computing) {
        thread.join();
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }
}
