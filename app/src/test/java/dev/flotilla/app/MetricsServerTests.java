package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.flotilla.config.Catalogue;
import dev.flotilla.config.ConfiguredRun;
import dev.flotilla.config.MetricsEndpoint;
import dev.flotilla.config.Recipe;
import dev.flotilla.config.RunConfig;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.world.World;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What Prometheus gets, and nobody else. */
class MetricsServerTests {

  @TempDir Path folder;

  private static MetricsEndpoint open() {
    return new MetricsServer.Provider().open("127.0.0.1", 0, 3);
  }

  /** Sends a request as it is, which Java's own client would not do. */
  private static String ask(MetricsEndpoint endpoint, String method, String path, String host)
      throws IOException {
    int port = URI.create(endpoint.address()).getPort();
    try (var socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout(10_000);
      var request =
          "%s %s HTTP/1.1\r\n%sConnection: close\r\n\r\n"
              .formatted(method, path, host.isEmpty() ? "" : "Host: " + host + "\r\n");
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static String body(MetricsEndpoint endpoint) throws IOException {
    var answer = ask(endpoint, "GET", "/metrics", "localhost");
    assertThat(answer).startsWith("HTTP/1.1 200 OK\r\n").contains("text/plain; version=0.0.4");
    return answer.substring(answer.indexOf("\r\n\r\n") + 4);
  }

  private static void train(MetricsEndpoint endpoint) {
    endpoint.on(new TrainingEvent.Resumed("there", 20));
    endpoint.on(new TrainingEvent.Started(4, 100, 60, 2));
    endpoint.on(timed(30, 1.5, 4.5, 1000));
    endpoint.on(new TrainingEvent.Updated(0, 30, 30, 0.5, 0.01, null, null, 640));
    endpoint.on(timed(40, 2, 5, 1500));
    endpoint.on(new TrainingEvent.Updated(1, 40, 40, 0.25, 0.005, null, null, 1280));
    endpoint.on(new TrainingEvent.Evaluated(1, 40, 0.75, 0.875, 1.0, 10, Map.of()));
    endpoint.on(new TrainingEvent.Saved(40, 40));
    endpoint.on(new TrainingEvent.Noted("something"));
  }

  private static TrainingEvent timed(long update, double forward, double other, long sent) {
    var seconds = Map.of("forward", forward, "other", other, "hidden", 99.0);
    return new TrainingEvent.Timed(update, seconds, 4096, sent, null);
  }

  @Test
  void countsInBaseUnitsWithTheRankAsALabel() throws IOException {
    try (var endpoint = open()) {
      train(endpoint);
      assertThat(body(endpoint).lines())
          .contains(
              "train_steps_total{rank=\"3\"} 20.0",
              "train_planned_steps{rank=\"3\"} 60.0",
              "train_loss{rank=\"3\"} 0.25",
              "train_learning_rate{rank=\"3\"} 0.005",
              "train_epoch{rank=\"3\"} 2.0",
              "train_samples_per_second{rank=\"3\"} 1280.0",
              "train_phase_seconds_total{phase=\"forward\",rank=\"3\"} 2.0",
              "train_sent_bytes_total{rank=\"3\"} 500.0",
              "process_resident_memory_bytes{rank=\"3\"} 4096.0",
              "eval_loss{rank=\"3\"} 0.75",
              "eval_accuracy_ratio{rank=\"3\"} 0.875",
              "eval_runs_total{rank=\"3\"} 1.0",
              "train_checkpoints_total{rank=\"3\"} 1.0",
              "train_notes_total{rank=\"3\"} 1.0")
          // Ten updates in 6 s, then ten in 1 s.
          .contains(
              "train_step_duration_seconds_count{rank=\"3\"} 20",
              "train_step_duration_seconds_bucket{rank=\"3\",le=\"0.1\"} 10",
              "train_step_duration_seconds_bucket{rank=\"3\",le=\"1.0\"} 20");
      assertThat(body(endpoint)).doesNotContain("hidden");
    }
  }

  @Test
  void answersHeadWithoutABody() throws IOException {
    try (var endpoint = open()) {
      assertThat(ask(endpoint, "HEAD", "/metrics", "127.0.0.1:9464"))
          .startsWith("HTTP/1.1 200 OK")
          .containsIgnoringCase("content-length: ")
          .endsWith("\r\n\r\n");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "GET, /, localhost, 404",
    "GET, /metrics/, localhost, 404",
    "GET, /metrics/../etc/passwd, localhost, 404",
    "GET, /%6detrics, localhost, 404",
    "GET, //metrics, localhost, 4",
    "POST, /metrics, localhost, 405",
    "PUT, /metrics, localhost, 405",
    "DELETE, /metrics, localhost, 405",
    "OPTIONS, /metrics, localhost, 405",
    "TRACE, /metrics, localhost, 405",
    "GET, /metrics, evil.example, 403",
    "GET, /metrics, localhost.evil.example, 403",
    "GET, /metrics, 127.0.0.1.evil.example, 403",
    "GET, /metrics, '', 403",
    "GET, /metrics, 'localhost:80:80', 403",
  })
  void servesNothingElse(String method, String path, String host, String status)
      throws IOException {
    try (var endpoint = open()) {
      train(endpoint);
      assertThat(ask(endpoint, method, path, host))
          .startsWith("HTTP/1.1 " + status)
          .doesNotContain("train_loss");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"localhost", "LOCALHOST:1", "127.0.0.1:9464", "[::1]:9464", "10.0.0.7"})
  void isAskedForByItsNamesAndByNumbers(String host) throws IOException {
    try (var endpoint = open()) {
      assertThat(ask(endpoint, "GET", "/metrics", host)).startsWith("HTTP/1.1 200");
    }
  }

  @Test
  void promtoolFindsNothingToMend() throws IOException, InterruptedException {
    try (var endpoint = open()) {
      train(endpoint);
      var text = Files.writeString(folder.resolve("metrics"), body(endpoint));
      assertThat(promtool(text)).isEmpty();
    }
  }

  private static String promtool(Path metrics) throws InterruptedException {
    try {
      var process =
          new ProcessBuilder("promtool", "check", "metrics")
              .redirectInput(metrics.toFile())
              .redirectErrorStream(true)
              .start();
      var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
      return process.exitValue() == 0
          ? output
          : "exit %d: %s".formatted(process.exitValue(), output);
    } catch (IOException missing) {
      System.err.println("skipped: no promtool here (Debian's package prometheus has it)");
      return abort("no promtool here: " + missing.getMessage());
    }
  }

  private static ConfiguredRun run(String prometheus, World world) {
    var recipe =
        """
        model: {name: mlp, inputs: 64, hidden: [8]}
        data: {name: synthetic-images, channels: 1, side: 8, classes: 10, samples: 16, test_samples: 8}
        global_batch: 8
        max_steps: 2
        threads: 1
        device: cpu
        optimizer: {name: sgd, lr: 0.05}
        prometheus: %s
        """;
    var read = Recipe.parse("recipe", recipe.formatted(prometheus));
    return new ConfiguredRun(RunConfig.read(read, Catalogue.installed()), world);
  }

  @Test
  void refusesAPortThatIsTakenBeforeARunBegins() throws IOException {
    try (var taken = new ServerSocket(0, 1, InetAddress.ofLiteral("127.0.0.1"))) {
      var run = run("{port: %d}".formatted(taken.getLocalPort()), World.solo());
      var message =
          "recipe:8: prometheus.port: port %d of 127.0.0.1 is in use (give another one, or 0 for any that is free)"
              .formatted(taken.getLocalPort());
      assertThatThrownBy(() -> run.requirePorts(1)).hasMessage(message);
      assertThatThrownBy(() -> run.run(folder.resolve("run"), _ -> {})).hasMessage(message);
      assertThat(folder.resolve("run")).doesNotExist();
    }
  }

  @Test
  void refusesWhatIsNoPortOrNoHost() {
    assertThatThrownBy(() -> run("{port: 70000}", World.solo()))
        .hasMessageContaining("prometheus.port: must be from 0 to 65535, but was 70000");
    assertThatThrownBy(() -> run("{port: 65535}", PlanCommand.worldOf(2)))
        .hasMessageContaining(
            "prometheus.port: 2 ranks on a host take the ports from 65535 on, but 65535 is the"
                + " last");
    assertThatThrownBy(() -> run("{host: no.such.host.invalid}", World.solo()).requirePorts(1))
        .hasMessageContaining("prometheus.host: 'no.such.host.invalid' is unknown here");
  }

  @Test
  void saysWhereItListensAndWarnsBeyondThisHost() {
    List<TrainingEvent> events = new ArrayList<>();
    run("{port: 0}", World.solo()).run(folder.resolve("own"), events::add);
    assertThat(texts(events)).anyMatch(it -> it.startsWith("metrics for Prometheus: http://127."));
    assertThat(texts(events)).noneMatch(it -> it.contains("everybody"));
    events.clear();
    run("{port: 0, host: 0.0.0.0}", World.solo()).run(folder.resolve("open"), events::add);
    assertThat(texts(events))
        .contains(
            "prometheus.host 0.0.0.0: everybody who reaches this host can read the run's metrics");
  }

  private static List<String> texts(List<TrainingEvent> events) {
    return events.stream()
        .map(
            event ->
                switch (event) {
                  case TrainingEvent.Noted(var text) -> text;
                  case TrainingEvent.Measured(var text) -> text;
                  default -> "";
                })
        .toList();
  }
}
