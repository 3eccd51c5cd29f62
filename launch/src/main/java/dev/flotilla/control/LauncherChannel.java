package dev.flotilla.control;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A rank's connection to its launcher, kept by a thread of its own.
 *
 * <p>The thread looks for frames from time to time rather than wait in a blocking read, as a JVM
 * with a thread in one takes 0.3 s longer to exit.
 */
final class LauncherChannel implements RankChannel {

  private static final Duration TURN = Duration.ofMillis(20);
  private static final Duration BUSY_TURN = Duration.ofMillis(1);
  private static final Duration BEAT = Duration.ofSeconds(1);
  private static final Duration CONNECTING_TAKES = Duration.ofSeconds(30);

  private final ControlFolder folder;
  private final Identity self;
  private final StopGate gate;
  private final PrintStream log;
  private final Queue<Frame> outgoing = new ConcurrentLinkedQueue<>();
  private final CompletableFuture<String> culprit = new CompletableFuture<>();
  private final ReceivedValues values = new ReceivedValues(this::sendSoon);
  private volatile @Nullable RankLink link;
  private volatile @Nullable Thread thread;
  private volatile boolean isConnected;
  private volatile boolean isClosed;

  LauncherChannel(ControlFolder folder, Identity self, StopGate gate, PrintStream log) {
    this.folder = folder;
    this.self = self;
    this.gate = gate;
    this.log = log;
  }

  /** Starts the thread. */
  Thread start(RankLink ownLink) {
    link = ownLink;
    Thread started = Thread.ofPlatform().daemon().name("flotilla-control").start(this::run);
    thread = started;
    return started;
  }

  private void sendSoon(Frame frame) {
    outgoing.add(frame);
    LockSupport.unpark(thread);
  }

  @Override
  public Optional<SharedValues> values() {
    return Optional.of(values);
  }

  @Override
  public Optional<JobKey> pairKey() {
    try {
      return folder.pairKey().map(key -> key.derived("attempt " + self.generation()));
    } catch (IOException e) {
      log.println("flotilla: the key of this job cannot be read: " + e.getMessage());
      return Optional.empty();
    }
  }

  @Override
  public void stopAsked(String signal) {
    outgoing.add(new Frame.StopAsked(signal));
  }

  @Override
  public boolean isConnected() {
    return isConnected;
  }

  @Override
  public Optional<String> culprit(Duration longest) {
    long patience = isConnected ? longest.toNanos() : 0;
    try {
      return Optional.of(culprit.get(patience, TimeUnit.NANOSECONDS));
    } catch (TimeoutException | ExecutionException e) {
      return Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }

  /** Ends the thread. */
  void close() {
    isClosed = true;
  }

  private void run() {
    try (Wire wire = connect()) {
      isConnected = true;
      converse(wire);
    } catch (IOException e) {
      // Without its launcher this process ends anyway; a stop cannot be agreed on any more.
      gate.cancel();
    } catch (InterruptedException e) {
      gate.cancel();
    } finally {
      isConnected = false;
      values.lose();
    }
  }

  /** Connects and greets; where the launcher has no room for so many at once, again. */
  private Wire connect() throws IOException, InterruptedException {
    long deadline = System.nanoTime() + CONNECTING_TAKES.toNanos();
    while (true) {
      try {
        return greeted(new Wire(folder.connect()));
      } catch (RefusedException e) {
        throw e;
      } catch (IOException e) {
        if (isClosed || System.nanoTime() - deadline > 0) {
          throw e;
        }
        Thread.sleep(TURN);
      }
    }
  }

  private Wire greeted(Wire wire) throws IOException, InterruptedException {
    try {
      greet(wire);
      return wire;
    } catch (IOException | InterruptedException e) {
      wire.close();
      throw e;
    }
  }

  private void greet(Wire wire) throws IOException, InterruptedException {
    var greeter = new ClientGreeter(folder.key(), self);
    var isKnown = new AtomicBoolean();
    while (!isKnown.get()) {
      // One by one: what comes right behind the welcome is no greeting any more.
      wire.receiveOne((frame, _) -> isKnown.set(greeter.take(frame, wire).isPresent()));
      if (!isKnown.get()) {
        Thread.sleep(Duration.ofMillis(2));
      }
    }
    wire.trust(greeter.seals());
  }

  private void converse(Wire wire) throws IOException, InterruptedException {
    long lastBeat = System.nanoTime() - BEAT.toNanos();
    while (!isClosed) {
      if (System.nanoTime() - lastBeat >= BEAT.toNanos()) {
        lastBeat = System.nanoTime();
        send(new Frame.Beat(), wire);
      }
      wire.receive((frame, generation) -> handle(frame, generation, wire));
      for (Frame next = outgoing.poll(); next != null; next = outgoing.poll()) {
        send(next, wire);
      }
      wire.flush();
      // Not a wait in native code: a JVM with a thread there takes 0.3 s longer to exit.
      LockSupport.parkNanos((values.isBusy() ? BUSY_TURN : TURN).toNanos());
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
  }

  private void send(Frame frame, Wire wire) throws IOException {
    wire.send(frame, self.generation());
  }

  private void handle(Frame frame, int generation, Wire wire) throws IOException {
    if (generation != self.generation()) {
      throw new FrameException("a frame is meant for another attempt");
    }
    switch (frame) {
      case Frame.StopRequest() -> send(position(), wire);
      case Frame.StopDecision(long microStep) -> gate.decide(microStep);
      case Frame.Notice(FailureNotice failure) -> {
        log.println("flotilla: " + failure.text());
        log.flush();
        culprit.complete(failure.sentence());
        send(new Frame.Noted(), wire);
      }
      case Frame.Dump(String where) -> {
        dump(Path.of(where));
        send(new Frame.Dumped(), wire);
      }
      case Frame.Value value -> values.take(value);
      case Frame.Synced answer -> values.take(answer);
      case Frame.Leave() -> {
        gate.cancel();
        RankLink known = link;
        if (known != null) {
          known.letGo();
        }
      }
      default -> throw new FrameException("a rank is never sent " + frame);
    }
  }

  /** Closes the gate only for a rank that will look at the decision. */
  private Frame.Position position() {
    RankLink known = link;
    return known != null && known.stops()
        ? new Frame.Position(gate.request(), true)
        : new Frame.Position(RankPlace.NONE, known != null && known.hasTrained());
  }

  private void dump(Path where) {
    try {
      ThreadDump.write(where, self.number());
    } catch (IOException e) {
      log.println("flotilla: the threads of this rank could not be written: " + e);
    }
  }
}
