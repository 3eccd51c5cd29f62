package dev.flotilla.app.doctor;

import dev.flotilla.app.doctor.Measured.Busy;
import dev.flotilla.app.doctor.Measured.Pair;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.CollectiveSettings;
import dev.flotilla.collective.Collectives;
import dev.flotilla.collective.KeyValueStore;
import dev.flotilla.collective.Link;
import dev.flotilla.collective.RankRelay;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.DeviceChoice;
import dev.flotilla.memory.NativeLibraries;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.world.Rendezvous;
import dev.flotilla.world.World;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** What a rank of the doctor's does: loads libtorch, meets the others, measures with them. */
public final class RankProbe {

  private static final int BARRIERS = 5;
  private static final Duration LONGEST = Duration.ofSeconds(20);
  private static final Duration BETWEEN_LOOKS = Duration.ofMillis(3);
  private static final String SEPARATOR = ";";

  private final World world;
  private final Collective ranks;
  private final KeyValueStore store;
  private final List<Pair> pairs = new ArrayList<>();
  private final List<String> failures = new ArrayList<>();

  private RankProbe(World world, Collective ranks) {
    this.world = world;
    this.ranks = ranks;
    store = ranks.keyValueStore().section("doctor");
  }

  /**
   * Measures together with the other ranks; rank 0 alone learns the result.
   *
   * @param threads that a rank computes with
   */
  public static Optional<Measured> run(World world, int threads) {
    long start = System.nanoTime();
    NativeLibraries.load();
    double seconds = (System.nanoTime() - start) / 1e9;
    try (var ranks = Collectives.join(world, CollectiveSettings.defaults())) {
      return new RankProbe(world, ranks).measure(seconds, threads);
    }
  }

  private Optional<Measured> measure(double loadSeconds, int threads) {
    say("host", hostName());
    say("clock", clock());
    if (ranks.size() > 1) {
      try (var meter = new LinkMeter(ranks.rank(), address())) {
        say("place", meter.place());
        measure(meter);
      } catch (IOException failure) {
        failures.add("rank %d cannot listen: %s".formatted(ranks.rank(), failure.getMessage()));
      }
    }
    say("pairs", pairsText());
    say("failures", failures.isEmpty() ? SEPARATOR : String.join(SEPARATOR, failures));
    var link = ranks.size() == 1 ? new Link(0, 0) : Link.measure(ranks, ComputeDevice.CPU);
    var busy = ranks.size() == 1 ? Busy.UNKNOWN : WorkMeter.measure(ranks, threads, link);
    if (!world.isLeader()) {
      ranks.barrier();
      return Optional.empty();
    }
    var measured =
        new Measured(
            loadSeconds,
            cudaProblem(),
            all("host"),
            ClockOffsets.of(all("clock").stream().map(RankProbe::numbers).toList()),
            all("pairs").stream().flatMap(RankProbe::pairs).toList(),
            all("failures").stream().flatMap(RankProbe::words).toList(),
            link.latency(),
            link.secondsPerByte(),
            busy);
    ranks.barrier();
    return Optional.of(measured);
  }

  /** Where the job is secure, the launchers carry these connections too. */
  private void measure(LinkMeter meter) {
    var addresses = all("place").stream().map(LinkMeter::addressOf).toList();
    try (var relay = RankRelay.of(ranks.rank(), addresses.get(ranks.rank()), addresses)) {
      if (relay.isNeeded()) {
        relay.open(meter.port(), LONGEST);
        ranks.barrier();
      }
      Pairing.rounds(ranks.size()).forEach(round -> meet(meter, round[ranks.rank()]));
      ranks.barrier();
    }
  }

  private void meet(LinkMeter meter, int other) {
    if (other == Pairing.NOBODY) {
      return;
    }
    try {
      var pair = meter.with(other, heard("place", other));
      if (pair != null) {
        pairs.add(pair);
      }
    } catch (IOException failure) {
      failures.add(
          "rank %d and rank %d did not come together: %s"
              .formatted(ranks.rank(), other, failure.getMessage()));
    }
  }

  private void say(String what, String text) {
    store.set(what + "/" + ranks.rank(), text);
  }

  private List<String> all(String what) {
    List<String> all = new ArrayList<>();
    for (int rank = 0; rank < ranks.size(); rank++) {
      all.add(heard(what, rank));
    }
    return all;
  }

  private String heard(String what, int rank) {
    long end = System.nanoTime() + LONGEST.toNanos();
    while (System.nanoTime() < end) {
      var text = store.get(what + "/" + rank);
      if (text.isPresent()) {
        return text.get();
      }
      try {
        Thread.sleep(BETWEEN_LOOKS);
      } catch (InterruptedException stopped) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted", stopped);
      }
    }
    throw new IllegalStateException("nothing was heard of rank " + rank);
  }

  private String clock() {
    var text = new StringBuilder();
    for (int i = 0; i < BARRIERS; i++) {
      ranks.barrier();
      text.append(ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now())).append(SEPARATOR);
    }
    return text.toString();
  }

  private static List<Long> numbers(String text) {
    return words(text).map(Long::valueOf).toList();
  }

  private static Stream<String> words(String text) {
    return Stream.of(text.split(SEPARATOR, -1)).filter(word -> !word.isEmpty());
  }

  private String pairsText() {
    var text = new StringBuilder(SEPARATOR);
    for (var pair : pairs) {
      text.append(
              "%d %d %s %s".formatted(pair.from(), pair.to(), pair.latency(), pair.bitsPerSecond()))
          .append(SEPARATOR);
    }
    return text.toString();
  }

  private static Stream<Pair> pairs(String text) {
    return words(text)
        .map(word -> word.split(" ", -1))
        .map(
            it ->
                new Pair(
                    Integer.parseInt(it[0]),
                    Integer.parseInt(it[1]),
                    Double.parseDouble(it[2]),
                    Double.parseDouble(it[3])));
  }

  private static String hostName() {
    try {
      return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
    } catch (IOException untold) {
      return "?";
    }
  }

  /** Returns the address that others reach this rank by, as Gloo's ranks choose theirs. */
  private InetAddress address() throws IOException {
    var relayed = RankRelay.ownAddress();
    if (relayed.isPresent()) {
      return InetAddress.ofLiteral(relayed.get());
    }
    if (!(world.rendezvous() instanceof Rendezvous.Tcp(var host, var port, _))) {
      return InetAddress.getLoopbackAddress();
    }
    var named = System.getenv("GLOO_SOCKET_IFNAME");
    var network = named == null ? null : NetworkInterface.getByName(named);
    if (network != null) {
      return network.inetAddresses().findFirst().orElseThrow();
    }
    try (var socket = new DatagramSocket()) {
      socket.connect(new InetSocketAddress(InetAddress.getAllByName(host)[0], port));
      return socket.getLocalAddress();
    }
  }

  private static String cudaProblem() {
    if (!NativeLibraries.isCudaBuild()) {
      return "";
    }
    try {
      DeviceChoice.CUDA.resolve(0, 1, List.of(), _ -> {});
      return "";
    } catch (ConfigException absent) {
      return absent.problems().getFirst().message();
    }
  }
}
