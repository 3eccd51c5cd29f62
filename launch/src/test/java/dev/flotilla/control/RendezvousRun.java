package dev.flotilla.control;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/** A job of four hosts with two ranks each, of which the control plane alone runs. */
final class RendezvousRun implements AutoCloseable {

  static final int HOSTS = 4;
  static final int RANKS = 8;

  private static final JobKey KEY = JobKey.of("k".repeat(64));
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  private final Path folder;
  private final int seed;
  private final Random random;
  private final History history = new History();
  private final List<Hub> hubs = new ArrayList<>();
  private final List<FlakyLink> links = new ArrayList<>();
  private final List<HistoryClient> clients = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private final AtomicLong names = new AtomicLong();
  private final int[] generations = new int[HOSTS];
  private volatile boolean isOver;

  private RendezvousRun(Path folder, int seed) {
    this.folder = folder;
    this.seed = seed;
    this.random = new Random(seed);
  }

  static RendezvousRun start(Path folder, int seed) throws IOException {
    var run = new RendezvousRun(folder, seed);
    run.open();
    return run;
  }

  private void open() throws IOException {
    ServerSocketChannel server =
        ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    int port = ((InetSocketAddress) server.getLocalAddress()).getPort();
    for (int node = 0; node < HOSTS; node++) {
      ControlFolder control = folder(node);
      PrivateFiles.createFolders(control.path());
      Hub hub = Hub.open();
      hubs.add(hub);
      hub.listenForRanks(control.listen(), control.key());
      if (node == 0) {
        hub.listenForHosts(server, KEY);
        threads.add(Thread.ofVirtual().start(() -> watch(hub, null)));
      } else {
        FlakyLink link = FlakyLink.to(port);
        links.add(link);
        var dial = new Dial("127.0.0.1", link.port(), KEY, node, PATIENCE);
        hub.dial(dial);
        threads.add(Thread.ofVirtual().start(() -> watch(hub, dial)));
      }
    }
    for (int rank = 0; rank < RANKS; rank++) {
      var client = new HistoryClient(this, rank, new Random(31L * seed + rank));
      clients.add(client);
      threads.add(Thread.ofPlatform().daemon().start(client));
    }
  }

  /** Dials again when the connection is lost, as launchers do. */
  private void watch(Hub hub, @org.jspecify.annotations.Nullable Dial dial) {
    try {
      Dial latest = dial;
      while (!isOver) {
        var event = hub.poll(Duration.ofMillis(50));
        if (latest != null && event.filter(RendezvousRun::isLoss).isPresent()) {
          latest = latest.again();
          hub.dial(latest);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static boolean isLoss(HubEvent event) {
    return event instanceof HubEvent.Left(Peer peer) && peer instanceof Peer.Host;
  }

  /** Does one harm after the other. */
  void disturb(Duration time) throws IOException, InterruptedException {
    long end = System.nanoTime() + time.toNanos();
    // All meet undisturbed once.
    Thread.sleep(500);
    while (System.nanoTime() < end) {
      FlakyLink link = links.get(random.nextInt(links.size()));
      switch (random.nextInt(5)) {
        case 0 -> link.cut();
        case 1 -> {
          link.hold(true);
          Thread.sleep(random.nextInt(150));
          link.hold(false);
        }
        case 2 -> clients.get(random.nextInt(RANKS)).kill();
        case 3 -> clients.get(random.nextInt(RANKS)).comeTwice();
        default -> {
          if (random.nextInt(3) == 0) {
            beginAnew();
            Thread.sleep(400);
          }
        }
      }
      Thread.sleep(random.nextInt(80));
    }
  }

  /** Hosts begin the next attempt one after the other, in any order. */
  private void beginAnew() throws InterruptedException {
    var nodes = new ArrayList<>(List.of(0, 1, 2, 3));
    java.util.Collections.shuffle(nodes, random);
    for (int node : nodes) {
      synchronized (generations) {
        generations[node]++;
        hubs.get(node).expect(generations[node]);
      }
      Thread.sleep(random.nextInt(40));
    }
  }

  int generationOf(int rank) {
    synchronized (generations) {
      return generations[hostOf(rank)];
    }
  }

  int generations() {
    synchronized (generations) {
      return generations[0] + 1;
    }
  }

  private static int hostOf(int rank) {
    return rank * HOSTS / RANKS;
  }

  ControlFolder folderOf(int rank) {
    return folder(hostOf(rank));
  }

  private ControlFolder folder(int node) {
    return new ControlFolder(folder.resolve("host" + node));
  }

  /** Returns a name that nobody else has. */
  String newName() {
    return "v" + names.incrementAndGet();
  }

  History history() {
    return history;
  }

  int seed() {
    return seed;
  }

  boolean isOver() {
    return isOver;
  }

  @Override
  public void close() {
    isOver = true;
    links.forEach(it -> it.hold(false));
    try {
      for (Thread thread : threads) {
        thread.join(Duration.ofSeconds(30));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    clients.forEach(HistoryClient::kill);
    links.forEach(FlakyLink::close);
    hubs.forEach(Hub::close);
  }
}
