package dev.flotilla.app;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.control.JobKey;
import dev.flotilla.world.ExitCodes;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Jobs of two hosts with {@code --secure}. The hosts are network namespaces; needs root and {@code
 * ip}.
 */
@Timeout(300)
class SecureJobTests {

  private static final int MASTER = 29500;
  private static final int CONTROL = MASTER + 1;

  /**
   * Weights that change by less than their last bit: those of the model crossed the wire before.
   */
  private static final String STANDS_STILL =
      "--set=groups=[{match: [fc1.weight], lr: 1.0e-30, weight_decay: 0.0}]";

  @TempDir Path folder;
  private HostPrograms programs;
  private String keyText = "";

  @BeforeEach
  void prepare() throws IOException {
    keyText = JobKey.newText();
    KeyFile.write(folder.resolve("job.key"), keyText);
    programs = new HostPrograms(folder);
  }

  @AfterEach
  void endPrograms() {
    programs.close();
  }

  /** The plain job shows that the capture would see it, and that the secure one learns the same. */
  @Tag("slow")
  @Test
  void nobodyReadsAlongOrDisturbsTheStartAndTheWeightsAreTheSame() throws Exception {
    try (var hosts = TwoHosts.connectWithStranger()) {
      disturb(hosts);
      run(hosts, "plain", 20);
      List<byte[]> weights = samples("plain");
      assertThat(seen(hosts, "plain", weights)).isTrue();

      Files.writeString(folder.resolve("targets"), hosts.address(0) + ":" + CONTROL);
      run(hosts, "secure", 20, "--secure");

      assertThat(new RunFiles(runOf("secure")).weights())
          .isEqualTo(new RunFiles(runOf("plain")).weights());
      assertThat(seen(hosts, "secure", weights)).as("weights on the wire").isFalse();
      assertThat(seen(hosts, "secure", List.of(HexFormat.of().parseHex(keyText)))).isFalse();
      assertThat(seen(hosts, "secure", List.of(keyText.getBytes(StandardCharsets.US_ASCII))))
          .isFalse();
      assertThat(Files.readString(folder.resolve("count")))
          .doesNotStartWith("0 ")
          .endsWith(" tries, gained 0");
      System.out.println("a start with a stranger: " + Files.readString(folder.resolve("count")));
    }
  }

  /** Runs a job on both hosts, with everything captured that leaves the first. */
  private void run(TwoHosts hosts, String name, int steps, String... more) throws Exception {
    Path capture = folder.resolve(name + ".capture");
    Process capturing =
        programs.start(hosts.name(0), name + ".log", Capture.class, capture.toString(), "0");
    Awaitility.await().until(() -> Files.exists(capture));
    try (var first = start(hosts, 0, name, steps, more);
        var second = start(hosts, 1, name, steps, more)) {
      var beyondLoopback = new TreeSet<String>();
      while (first.process().isAlive() && !Files.exists(runOf(name).resolve("events.jsonl"))) {
        beyondLoopback.addAll(listening(hosts, first, second));
        Files.write(folder.resolve("targets"), beyondLoopback);
        Thread.sleep(100);
      }
      first.await().expect(0);
      second.await().expect(0);
      if (List.of(more).contains("--secure")) {
        assertThat(beyondLoopback).contains(hosts.address(0) + ":" + CONTROL).hasSizeBetween(1, 2);
        assertThat(first.err() + second.err())
            .contains("somebody at %s was turned".formatted(hosts.strangerAddress(0)));
      }
    }
    capturing.destroy();
    assertThat(capturing.waitFor(10, TimeUnit.SECONDS)).isTrue();
  }

  private void disturb(TwoHosts hosts) throws IOException {
    Path targets = Files.writeString(folder.resolve("targets"), hosts.address(0) + ":" + CONTROL);
    Path count = folder.resolve("count");
    programs.start(
        hosts.stranger(),
        "stranger.log",
        StartStranger.class,
        targets.toString(),
        count.toString());
  }

  /** Some places of the model, of 32 bytes each. */
  private List<byte[]> samples(String name) {
    float[] still = requireNonNull(new RunFiles(runOf(name)).tensors().get("fc1.weight"));
    return IntStream.range(0, 20).mapToObj(i -> bytes(still, i * still.length / 21)).toList();
  }

  private static byte[] bytes(float[] values, int from) {
    var bytes = ByteBuffer.allocate(32).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < 8; i++) {
      bytes.putFloat(values[from + i]);
    }
    return bytes.array();
  }

  private boolean seen(TwoHosts hosts, String name, Collection<byte[]> patterns)
      throws IOException {
    List<Capture.Packet> packets = Capture.read(folder.resolve(name + ".capture"));
    assertThat(packets)
        .as("packets between %s and others", hosts.address(0))
        .hasSizeGreaterThan(50);
    var all = new ByteArrayOutputStream();
    packets.forEach(it -> it.writeTo(all));
    String text = all.toString(StandardCharsets.ISO_8859_1);
    return patterns.stream()
        .anyMatch(it -> text.contains(new String(it, StandardCharsets.ISO_8859_1)));
  }

  @Tag("thorough")
  @Test
  void nothingListensBeyondLoopbackButTheControlPortOnceRanksAreConnected() throws Exception {
    try (var hosts = TwoHosts.connect();
        var first = start(hosts, 0, "listens", 100_000, "--secure");
        var second = start(hosts, 1, "listens", 100_000, "--secure")) {
      first.awaitTraining(runOf("listens"));
      Awaitility.await()
          .untilAsserted(
              () ->
                  assertThat(listening(hosts, first, second))
                      .containsExactly(hosts.address(0) + ":" + CONTROL));
      for (var launcher : List.of(first, second)) {
        assertThat(launcher.living().stream().flatMap(it -> TcpSocket.of(it).stream()).toList())
            .filteredOn(it -> it.isListening() && it.isLoopback())
            .isEmpty();
      }
    }
  }

  private static Set<String> listening(TwoHosts hosts, Running first, Running second) {
    var places = new TreeSet<String>();
    for (int node = 0; node < 2; node++) {
      for (ProcessHandle process : (node == 0 ? first : second).living()) {
        for (TcpSocket socket : TcpSocket.of(process)) {
          if (socket.isListening() && !socket.isLoopback()) {
            places.add(hosts.address(node) + ":" + socket.port());
          }
        }
      }
    }
    return places;
  }

  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void bothSidesSayWhereOneAloneIsSecure(int secure) throws Exception {
    try (var hosts = TwoHosts.connect();
        var first = start(hosts, 0, "one", 20, secure == 0 ? "--secure" : "--check-collectives");
        var second = start(hosts, 1, "one", 20, secure == 1 ? "--secure" : "--check-collectives")) {
      var ended = second.await().expect(ExitCodes.RENDEZVOUS_FAILED);
      assertThat(ended.err()).contains("give --secure to the launchers of all hosts, or of none");
      Awaitility.await()
          .untilAsserted(
              () ->
                  assertThat(first.err())
                      .containsAnyOf(
                          "give --secure to the launchers of all hosts, or of none",
                          "without --secure, it never will"));
    }
  }

  private Path runOf(String name) {
    return host(0, name).work().resolve("run");
  }

  private Flotilla host(int node, String name) {
    return Flotilla.in(folder.resolve(name + node));
  }

  private Running start(TwoHosts hosts, int node, String name, int steps, String... more) {
    var arguments = hosts.job(node, MASTER, folder.resolve("job.key"), 64);
    arguments.add("--set=optimizer={name: sgd, lr: 0.05}");
    arguments.addAll(List.of(STANDS_STILL, "--max-steps=" + steps));
    arguments.addAll(List.of(more));
    return host(node, name)
        .through("ip", "netns", "exec", hosts.name(node))
        .start(arguments.toArray(String[]::new));
  }
}
