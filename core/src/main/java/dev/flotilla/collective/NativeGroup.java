package dev.flotilla.collective;

import dev.flotilla.control.FlightRecorder;
import dev.flotilla.control.JobLink;
import dev.flotilla.memory.TensorScope;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import org.bytedeco.javacpp.chrono.Milliseconds;
import org.bytedeco.pytorch.Backend;
import org.bytedeco.pytorch.Work;
import org.jspecify.annotations.Nullable;

/**
 * A native process group with its operations in flight.
 *
 * <p>One thread starts operations; they may be awaited on another. Every operation is noted in the
 * one flight recorder of this process, where its launcher finds it whatever becomes of the process.
 */
final class NativeGroup implements AutoCloseable {

  /** Time for the launcher to say which rank died, and why. */
  private static final Duration NOTICE_TAKES = Duration.ofSeconds(1);

  /** From here on numbers of messages are those of checks, which count for themselves. */
  static final int FIRST_TAG_OF_CHECKS = 1 << 30;

  private final JobLink link = JobLink.ofThisProcess();
  private final Backend group;
  private final Roster roster;
  private final Consumer<Boolean> leave;
  private final AtomicInteger tags = new AtomicInteger();
  private final Set<InFlight> inFlight = ConcurrentHashMap.newKeySet();
  private Consumer<Operation> inspection = _ -> {};
  private volatile @Nullable CollectiveException failure;
  private volatile boolean isClosed;

  /**
   * Takes over a group.
   *
   * @param leave what comes before it is freed; hears whether it has failed
   */
  NativeGroup(Backend group, Roster roster, Consumer<Boolean> leave) {
    this.group = group;
    this.roster = roster;
    this.leave = leave;
  }

  Roster roster() {
    return roster;
  }

  /**
   * Has every operation looked at before it is carried out; it counts as begun by then, so that
   * reports say where a rank waits.
   *
   * @param look throws an {@link AgreementException} where ranks are about to do different things
   */
  void inspect(Consumer<Operation> look) {
    inspection = look;
  }

  /**
   * Starts an operation, piece by piece; native code keeps its tensors alive until the work is
   * freed.
   */
  Pending start(Operation operation, List<Function<Backend, Work>> pieces) {
    // Every step inside has the operation's timeout; a slow link that moves is not a failure.
    return start(operation, pieces, Work::_wait);
  }

  /** Starts an operation of messages from rank to rank, each of which has the whole timeout. */
  Pending startMessages(Operation operation, List<Function<Backend, Work>> messages) {
    return start(operation, messages, work -> waitFor(work, operation.timeout()));
  }

  private static void waitFor(Work work, Duration timeout) {
    try (var patience = new Milliseconds(timeout.toMillis())) {
      work._wait(patience);
    }
  }

  /** Starts an operation that is over when {@code waiting} is, which throws if it has failed. */
  Pending start(Operation operation, List<Function<Backend, Work>> pieces, Consumer<Work> waiting) {
    checkUsable(operation);
    int ticket = recorder().starting(operation.name(), operation.bytes(), operation.type());
    inspectNow(operation);
    var pending = new InFlight(operation, ticket, waiting);
    inFlight.add(pending);
    try (var _ = TensorScope.open()) {
      pieces.forEach(piece -> pending.works.add(TensorScope.keep(piece.apply(group))));
      return pending;
    } catch (RuntimeException e) {
      throw failed(operation, e);
    }
  }

  private void inspectNow(Operation operation) {
    try {
      inspection.accept(operation);
    } catch (AgreementException e) {
      failure = new CollectiveException(String.valueOf(e.getMessage()), e);
      throw e;
    } catch (RuntimeException e) {
      throw failed(operation, e);
    }
  }

  /**
   * Sends and receives messages that are no collective: nothing is noted, and a failure is the
   * caller's to explain.
   *
   * @throws RuntimeException if one of them takes longer
   */
  void exchange(List<Function<Backend, Work>> messages, Duration longest) {
    try (var _ = TensorScope.open()) {
      var works = messages.stream().map(message -> message.apply(group)).toList();
      works.forEach(work -> waitFor(work, longest));
    }
  }

  /** Returns the next number by which ranks tell their messages apart; all ranks count alike. */
  int nextTag() {
    return tags.getAndUpdate(tag -> tag == FIRST_TAG_OF_CHECKS - 1 ? 0 : tag + 1);
  }

  private FlightRecorder recorder() {
    return link.collectives();
  }

  private void checkUsable(Operation operation) {
    if (isClosed) {
      throw new IllegalStateException(operation + " on a group that was closed");
    }
    if (failure != null) {
      throw new CollectiveException(
          "%s was not started, because the group has failed before: %s"
              .formatted(operation, failure.getMessage()),
          failure);
    }
  }

  /** Notes that the group has failed; returns what to throw. */
  CollectiveException failed(Operation operation, RuntimeException cause) {
    var exception = operation.failed(roster, link.culprit(NOTICE_TAKES), cause);
    if (failure == null) {
      failure = exception;
    }
    return exception;
  }

  boolean hasFailed() {
    return failure != null;
  }

  /**
   * Ends the group; native code first lets started operations finish or time out.
   *
   * @throws IllegalStateException if there are any and nothing has failed
   */
  @Override
  public void close() {
    if (isClosed) {
      return;
    }
    isClosed = true;
    var forgotten = List.copyOf(inFlight);
    leave.accept(hasFailed());
    TensorScope.free(group);
    forgotten.forEach(InFlight::free);
    if (!forgotten.isEmpty() && failure == null) {
      throw new IllegalStateException(
          "%s was closed with operations that were started and never awaited: %s"
              .formatted(roster.self(), forgotten));
    }
  }

  private final class InFlight implements Pending {

    private final Operation operation;
    private final List<Work> works = new ArrayList<>();
    private final int ticket;
    private final Consumer<Work> waiting;

    InFlight(Operation operation, int ticket, Consumer<Work> waiting) {
      this.operation = operation;
      this.ticket = ticket;
      this.waiting = waiting;
    }

    @Override
    public void await() {
      if (!inFlight.contains(this)) {
        return;
      }
      try {
        works.forEach(waiting);
        recorder().finished(ticket);
      } catch (RuntimeException e) {
        throw failed(operation, e);
      } finally {
        free();
      }
    }

    private void free() {
      if (inFlight.remove(this)) {
        works.forEach(TensorScope::free);
      }
    }

    @Override
    public String toString() {
      return operation.toString();
    }
  }
}
