package dev.flotilla.control;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A rank's connection to its launcher, kept by a thread of its own.
 *
 * <p>The thread looks for frames from time to time rather than wait in a blocking read, as a JVM
 * with a thread in one takes 0.3 s longer to exit.
 */
final class LauncherChannel implements RankChannel {

  private static final Duration TURN = Duration.ofMillis(20);
  private static final Duration BEAT = Duration.ofSeconds(1);
  private static final Duration CONNECTING_TAKES = Duration.ofSeconds(30);

  private final ControlFolder folder;
  private final Identity self;
  private final StopGate gate;
  private final PrintStream log;
  private final Queue<Frame> outgoing = new ConcurrentLinkedQueue<>();
  private final CompletableFuture<String> culprit = new CompletableFuture<>();
  private volatile @Nullable RankLink link;
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
    return Thread.ofPlatform().daemon().name("flotilla-control").start(this::run);
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
      greet(wire);
      isConnected = true;
      converse(wire);
    } catch (IOException e) {
      // Without its launcher this process ends anyway; a stop cannot be agreed on any more.
      gate.cancel();
    } catch (InterruptedException e) {
      gate.cancel();
    } finally {
      isConnected = false;
    }
  }

  private Wire connect() throws IOException, InterruptedException {
    long deadline = System.nanoTime() + CONNECTING_TAKES.toNanos();
    while (true) {
      try {
        SocketChannel channel = folder.connect();
        return new Wire(channel);
      } catch (IOException e) {
        if (isClosed || System.nanoTime() - deadline > 0) {
          throw e;
        }
        Thread.sleep(TURN);
      }
    }
  }

  private void greet(Wire wire) throws IOException, InterruptedException {
    var greeter = new ClientGreeter(folder.key(), self);
    boolean isKnown = false;
    while (!isKnown) {
      // One by one: what comes right behind the welcome is no greeting any more.
      Optional<Frame> frame = wire.receiveOne();
      if (frame.isPresent()) {
        isKnown = greeter.take(frame.get(), wire).isPresent();
      } else {
        Thread.sleep(Duration.ofMillis(2));
      }
    }
    wire.trust();
  }

  private void converse(Wire wire) throws IOException, InterruptedException {
    long lastBeat = System.nanoTime() - BEAT.toNanos();
    while (!isClosed) {
      if (System.nanoTime() - lastBeat >= BEAT.toNanos()) {
        lastBeat = System.nanoTime();
        wire.send(new Frame.Beat());
      }
      for (Frame frame : wire.receive()) {
        handle(frame, wire);
      }
      for (Frame next = outgoing.poll(); next != null; next = outgoing.poll()) {
        wire.send(next);
      }
      wire.flush();
      Thread.sleep(TURN);
    }
  }

  private void handle(Frame frame, Wire wire) throws IOException {
    switch (frame) {
      case Frame.StopRequest() -> wire.send(position());
      case Frame.StopDecision(long microStep) -> gate.decide(microStep);
      case Frame.Notice(FailureNotice failure) -> {
        log.println("flotilla: " + failure.text());
        log.flush();
        culprit.complete(failure.sentence());
        wire.send(new Frame.Noted());
      }
      case Frame.Dump(String where) -> {
        dump(Path.of(where));
        wire.send(new Frame.Dumped());
      }
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
