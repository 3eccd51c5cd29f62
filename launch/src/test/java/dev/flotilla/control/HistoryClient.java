package dev.flotilla.control;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;

/** A rank of a {@link RendezvousRun}, one process after the other, that notes what it sees. */
final class HistoryClient implements Runnable {

  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final PrintStream NOWHERE = new PrintStream(OutputStream.nullOutputStream());

  /** One process of the rank. */
  private record Incarnation(
      String name, int generation, LauncherChannel channel, SharedValues values) {}

  private final RendezvousRun run;
  private final History history;
  private final int rank;
  private final Random random;
  private final CopyOnWriteArrayList<LauncherChannel> channels = new CopyOnWriteArrayList<>();
  private volatile boolean isKilled;
  private volatile boolean hasDouble;
  private int putUpIn = -1;

  HistoryClient(RendezvousRun run, int rank, Random random) {
    this.run = run;
    this.history = run.history();
    this.rank = rank;
    this.random = random;
  }

  /** Ends the present process of this rank. */
  void kill() {
    isKilled = true;
  }

  /** Starts another process that takes itself for the same rank, when the next one starts. */
  void comeTwice() {
    hasDouble = true;
  }

  private Incarnation start() {
    int generation = run.generationOf(rank);
    var gate = new StopGate(PATIENCE);
    var channel =
        new LauncherChannel(run.folderOf(rank), Identity.ofRank(rank, generation), gate, NOWHERE);
    channels.add(channel);
    channel.start(new RankLink(Trace.inMemory(), gate, channel));
    return new Incarnation(run.newName(), generation, channel, channel.values().orElseThrow());
  }

  @Override
  public void run() {
    try {
      while (!run.isOver()) {
        isKilled = false;
        live(start());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      history.violated("rank %d: %s".formatted(rank, e));
    } finally {
      channels.forEach(LauncherChannel::close);
    }
  }

  private void live(Incarnation self) throws InterruptedException {
    Thread second = null;
    if (hasDouble) {
      hasDouble = false;
      second = Thread.ofPlatform().daemon().start(() -> stay(start()));
    }
    if (awaitConnection(self)) {
      long since = System.nanoTime();
      try {
        work(self);
      } catch (IOException e) {
        // Lost: cut off by the next attempt.
      }
      history.stayed(place(self), self.name(), since, System.nanoTime());
    }
    self.channel().close();
    if (second != null) {
      second.join(PATIENCE);
    }
  }

  /** The double does nothing but be there for a moment. */
  private void stay(Incarnation self) {
    try {
      if (awaitConnection(self)) {
        long since = System.nanoTime();
        Thread.sleep(random.nextInt(50));
        history.stayed(place(self), self.name(), since, System.nanoTime());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      self.channel().close();
    }
  }

  private String place(Incarnation self) {
    return "rank %d of generation %d".formatted(rank, self.generation());
  }

  private boolean awaitConnection(Incarnation self) throws InterruptedException {
    long deadline = System.nanoTime() + Duration.ofSeconds(2).toNanos();
    while (!self.channel().isConnected() && !run.isOver() && System.nanoTime() < deadline) {
      Thread.sleep(1);
    }
    return self.channel().isConnected();
  }

  private void work(Incarnation self) throws IOException, InterruptedException {
    if (putUpIn < self.generation()) {
      putUpIn = self.generation();
      self.values().put("member/" + rank, bytes(self, self.name()), PATIENCE);
    }
    while (!isKilled && !run.isOver() && self.channel().isConnected()) {
      switch (random.nextInt(4)) {
        case 0 -> write(self);
        case 1 -> readMembers(self);
        default -> read(self, random.nextInt(RendezvousRun.RANKS));
      }
      Thread.sleep(random.nextInt(8));
    }
  }

  private void write(Incarnation self) throws IOException {
    String name = run.newName();
    String register = register(self, rank);
    long start = System.nanoTime();
    try {
      self.values().put("register/" + rank, bytes(self, name), PATIENCE);
      history.wrote(register, name, start, System.nanoTime());
    } catch (IOException e) {
      history.triedToWrite(register, name, start);
      throw e;
    }
  }

  private void read(Incarnation self, int of) throws IOException {
    long start = System.nanoTime();
    self.values().sync(PATIENCE);
    var value = self.values().get("register/" + of);
    long end = System.nanoTime();
    String seen = value.map(it -> checked(self, it)).orElse(History.NOTHING);
    history.read(register(self, of), seen, start, end);
  }

  private void readMembers(Incarnation self) throws IOException {
    self.values().sync(PATIENCE);
    Map<String, byte[]> members = self.values().all("member/");
    String list =
        members.entrySet().stream()
            .map(it -> it.getKey() + "=" + checked(self, it.getValue()))
            .collect(Collectors.joining(", "));
    if (members.size() == RendezvousRun.RANKS) {
      history.sawMembers(self.generation(), list);
    }
  }

  private static byte[] bytes(Incarnation self, String name) {
    return (self.generation() + " " + name).getBytes(StandardCharsets.US_ASCII);
  }

  /** Returns the name, which must be of this attempt. */
  private String checked(Incarnation self, byte[] value) {
    String[] words = new String(value, StandardCharsets.US_ASCII).split(" ", -1);
    if (Integer.parseInt(words[0]) != self.generation()) {
      history.violated(
          "rank %d of generation %d saw %s"
              .formatted(rank, self.generation(), String.join(" ", words)));
    }
    return words[1];
  }

  private static String register(Incarnation self, int rank) {
    return "register %d of generation %d".formatted(rank, self.generation());
  }
}
