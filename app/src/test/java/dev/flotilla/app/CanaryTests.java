package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.control.JobKey;
import dev.flotilla.testkit.FreePorts;
import dev.flotilla.world.ExitCodes;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * L1: twelve secrets of variables, a recipe, addresses, properties, requests and files are in
 * nothing that a job writes, prints or shows to other users, whether it ends well, fails or
 * crashes.
 */
@Tag("slow")
@Timeout(300)
class CanaryTests {

  private static final Map<String, String> SECRETS = new TreeMap<>();

  static {
    for (String place :
        List.of(
            "HF_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "DB_PASSWORD",
            "WANDB_API_KEY",
            "GITHUB_TOKEN",
            "proxy",
            "database",
            "property",
            "header",
            "query",
            "address")) {
      SECRETS.put(place, "canary-" + Integer.toHexString(place.hashCode()) + "-of-" + place);
    }
    SECRETS.put("key", JobKey.newText());
  }

  @TempDir Path folder;
  private final List<String> seen = new ArrayList<>();

  private static String secret(String place) {
    return SECRETS.getOrDefault(place, "");
  }

  @BeforeEach
  void writeFiles() throws IOException {
    assertThat(SECRETS).hasSize(12);
    KeyFile.write(folder.resolve("job.key"), secret("key"));
    Files.writeString(folder.resolve("options"), "-Dhttp.proxyPassword=" + secret("property"));
  }

  private Flotilla host(String name) throws IOException {
    var flotilla =
        Flotilla.in(folder.resolve(name))
            .with("HTTPS_PROXY", "http://me:%s@proxy:3128".formatted(secret("proxy")))
            .with("DATABASE_URL", "postgres://me:%s@db/x".formatted(secret("database")))
            .with("MIRROR", "https://me:%s@mirror/x".formatted(secret("address")))
            .with(
                JvmOptions.VARIABLE, PackedJars.QUICK_TO_START + " @" + folder.resolve("options"));
    for (String place : SECRETS.keySet()) {
      boolean isVariable = place.equals(place.toUpperCase(java.util.Locale.ROOT));
      flotilla = isVariable ? flotilla.with(place, secret(place)) : flotilla;
    }
    return flotilla;
  }

  @Test
  void noneIsFoundAfterAJobThatCrashesAndGoesOn() throws Exception {
    Path recipe =
        Files.writeString(
            folder.resolve("recipe.yaml"),
            """
            model: {name: mlp, hidden: [16]}
            data: digits
            global_batch: 64
            epochs: 10000
            optimizer: {name: sgd, lr: 0.05}
            threads: 1
            eval: {every: end}
            checkpoint: {every: 10}
            prometheus: {port: 0}
            tensorboard: {dir: '%s/of-%s'}
            """
                .formatted(folder, secret("GITHUB_TOKEN")));
    String port = Integer.toString(FreePorts.next());
    try (var first = start(0, recipe, port);
        var second = start(1, recipe, port)) {
      first.awaitTraining(run());
      ask(first.rank(0));
      look(first, second);
      Running.signal("SEGV", second.rank(1));
      first.await(Duration.ofMinutes(2)).expect(0);
      second.await().expect(0);
    }

    assertThat(run().resolve("report.html")).exists();
    try (var crashes = Files.newDirectoryStream(host("host1").work(), "hs_err_pid*.log")) {
      assertThat(crashes).as("reports of the crash").hasSize(1);
    }
    assertNothingIsFound();
  }

  private Running start(int node, Path recipe, String port) throws IOException {
    return host("host" + node)
        .start(
            "run",
            "--nnodes=2",
            "--nproc=1",
            "--node-rank=" + node,
            "--master-addr=127.0.0.1",
            "--master-port=" + port,
            "--job-key-file=" + folder.resolve("job.key"),
            "--max-restarts=1",
            "--max-steps=150",
            "--log-dir=log",
            "--out=" + run(),
            recipe.toString());
  }

  private Path run() throws IOException {
    return host("host0").work().resolve("run");
  }

  /** Asks for metrics as somebody would who has a password for them. */
  private static void ask(ProcessHandle rank) throws IOException {
    int port =
        TcpSocket.of(rank).stream()
            .filter(it -> it.isListening() && it.isLoopback())
            .findFirst()
            .orElseThrow()
            .port();
    try (var socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout(20_000);
      var request =
          "GET /metrics?password=%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n"
              .formatted(secret("query"), port, secret("header"));
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      assertThat(socket.getInputStream().readAllBytes()).isNotEmpty();
    }
  }

  /** Notes arguments, which every user of a host can see, and of variables the key. */
  private void look(Running... launchers) throws IOException {
    int processes = 0;
    for (Running launcher : launchers) {
      for (ProcessHandle process : launcher.living()) {
        Path files = Path.of("/proc/" + process.pid());
        seen.add(Files.readString(files.resolve("cmdline"), StandardCharsets.ISO_8859_1));
        assertThat(Files.readString(files.resolve("environ"), StandardCharsets.ISO_8859_1))
            .doesNotContain(secret("key"));
        processes++;
      }
    }
    assertThat(processes).as("launchers and ranks").isGreaterThanOrEqualTo(4);
  }

  @Test
  void noneIsFoundAfterAProgramThatFailsWithSome() throws IOException {
    var ended =
        host("failing")
            .run("run", "--nproc=1", "--log-dir=log", "--main", LeakingProgram.class.getName());

    assertThat(ended.expect(ExitCodes.FAILED).err())
        .contains("cannot read https://(hidden)@mirror/x with (hidden)");
    assertNothingIsFound();
  }

  @Test
  void noneIsFoundAfterARecipeThatIsRefused() throws IOException {
    Path recipe =
        Files.writeString(
            folder.resolve("recipe.yaml"),
            """
            model: mlp
            data: digits
            batch: 8
            optimizer: {name: sgd, lr: 0.05}
            init_from: {path: 'https://me:%s@mirror/weights.safetensors'}
            """
                .formatted(secret("address")));

    var ended = host("refused").run("plan", recipe.toString());

    assertThat(ended.expect(ExitCodes.USAGE).err()).contains("(hidden)@mirror/weights");
    assertNothingIsFound();
  }

  /** Looks through everything but what the user has written. */
  private void assertNothingIsFound() throws IOException {
    int files = 0;
    try (var all = Files.walk(folder)) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        if (!folder.equals(file.getParent())) {
          seen.add(file + "\n" + Files.readString(file, StandardCharsets.ISO_8859_1));
          files++;
        }
      }
    }
    System.out.printf(
        "%d secrets in none of %d files and %d texts%n", SECRETS.size(), files, seen.size());
    for (String text : seen) {
      SECRETS.forEach(
          (place, secret) ->
              assertThat(text.substring(Math.min(text.length(), text.indexOf('\n') + 1)))
                  .as("the secret of %s in %s", place, text.lines().findFirst().orElse(""))
                  .matches(it -> !it.contains(secret)));
    }
  }
}
