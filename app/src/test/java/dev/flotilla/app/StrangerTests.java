package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.control.JobKey;
import dev.flotilla.world.ExitCodes;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Somebody without the key reaches every port of a job of two hosts, and has seen what went over
 * the network before: nothing is gained, and the job learns the same. The hosts are network
 * namespaces; needs root, {@code ip} and {@code prlimit}.
 */
@Tag("slow")
@Timeout(3600)
class StrangerTests {

  private static final int TRIES = Integer.getInteger("flotilla.test.strangers", 30);

  /** More than are made while somebody tries: the job is stopped then, and ends a little later. */
  private static final long FOREVER = 10_000_000;

  private static final int AFTERWARDS = 20;

  /** J4: the stranger has more connections. */
  private static final String FILES = "--nofile=512:512";

  private static final int MASTER = 29500;
  private static final int CONTROL = MASTER + 1;

  @TempDir Path folder;

  @Test
  void whoHasNotTheKeyGainsNothingAndDisturbsNothing() throws Exception {
    KeyFile.write(folder.resolve("job.key"), JobKey.newText());
    try (var hosts = TwoHosts.connectWithStranger();
        var programs = new HostPrograms(folder)) {
      long updates = disturbed(hosts, programs) + AFTERWARDS;
      trains(hosts, "disturbed", updates);
      trains(hosts, "alone", updates);
      System.out.printf(
          "%d updates, a stranger's %d tries: %.0f samples/s beside them, %.0f alone%n",
          updates, TRIES, speed("disturbed"), speed("alone"));
      assertThat(run("disturbed").weights()).isEqualTo(run("alone").weights());
    }
  }

  /** Trains to an update, from where the run was stopped if it was. */
  private void trains(TwoHosts hosts, String name, long updates) {
    try (var first = start(hosts, 0, name, updates);
        var second = start(hosts, 1, name, updates)) {
      first.await(Duration.ofMinutes(20)).expect(0);
      second.await().expect(0);
    }
  }

  /** Trains for as long as the tries take; returns after which update it was stopped. */
  private long disturbed(TwoHosts hosts, HostPrograms programs) throws Exception {
    Path capture = folder.resolve("capture");
    programs.start(hosts.name(0), "capture.log", Capture.class, capture.toString(), "" + CONTROL);
    Awaitility.await().until(() -> Files.exists(capture));
    Path loot = folder.resolve("loot");
    try (var first = start(hosts, 0, "disturbed", FOREVER);
        var second = start(hosts, 1, "disturbed", FOREVER)) {
      first.awaitTraining(host(0, "disturbed").work().resolve("run"));

      String said = tries(programs, hosts, capture, loot, ports(hosts, first, second));
      Running.signal("TERM", first.process().toHandle());
      var ended = first.await(Duration.ofMinutes(1)).expect(ExitCodes.STOPPED);
      second.await().expect(ExitCodes.STOPPED);

      assertThat(said).contains("tries %d,".formatted(TRIES), ", gained 0 {");
      assertThat(said).doesNotContain("answered 0,");
      assertThat(ended.err())
          .contains("somebody at %s who has not proved".formatted(hosts.strangerAddress(0)));
      assertThat(loot).doesNotExist();
      var stopped = Pattern.compile("stopped on request after update (\\d+)");
      var matcher = stopped.matcher(ended.out() + ended.err());
      assertThat(matcher.find()).as(ended.out()).isTrue();
      return Long.parseLong(matcher.group(1));
    }
  }

  private RunFiles run(String name) {
    return new RunFiles(host(0, name).work().resolve("run"));
  }

  /** Returns the median over all updates that were told of. */
  private double speed(String name) {
    var all =
        run(name).events().stream()
            .filter(event -> event.path("event").asString().equals("updated"))
            .mapToDouble(event -> event.get("samples_per_second").asDouble())
            .sorted()
            .toArray();
    return all[all.length / 2];
  }

  /** All that processes of the job listen on beyond loopback, and what they have listened on. */
  private static Set<String> ports(TwoHosts hosts, Running first, Running second) {
    var all = new TreeSet<String>();
    var listening = new TreeSet<String>();
    for (int node = 0; node < 2; node++) {
      all.add(hosts.address(node) + ":" + MASTER);
      for (ProcessHandle process : (node == 0 ? first : second).living()) {
        for (TcpSocket socket : TcpSocket.of(process)) {
          String place = hosts.address(node) + ":" + socket.port();
          all.add(place);
          if (socket.isListening() && !socket.isLoopback()) {
            listening.add(place);
          }
        }
      }
    }
    String control = hosts.address(0) + ":" + CONTROL;
    assertThat(listening).containsExactly(control);
    assertThat(all).as("ports of Gloo's connections").hasSizeGreaterThan(3);
    all.remove(control);
    return all;
  }

  private String tries(
      HostPrograms programs, TwoHosts hosts, Path capture, Path loot, Set<String> ports)
      throws Exception {
    var arguments = new ArrayList<String>();
    arguments.addAll(List.of("" + TRIES, capture.toString(), loot.toString()));
    arguments.add(hosts.address(0) + ":" + CONTROL);
    arguments.addAll(ports);
    Process stranger =
        programs.start(
            hosts.stranger(), "stranger.log", Stranger.class, arguments.toArray(String[]::new));
    assertThat(stranger.waitFor(60 + TRIES, TimeUnit.SECONDS)).isTrue();
    String said = Files.readString(folder.resolve("stranger.log"));
    assertThat(stranger.exitValue()).as(said).isZero();
    System.out.print(said);
    return said;
  }

  private Flotilla host(int node, String name) {
    return Flotilla.in(folder.resolve(name + node));
  }

  private Running start(TwoHosts hosts, int node, String name, long updates) {
    return host(node, name)
        .through("prlimit", FILES, "ip", "netns", "exec", hosts.name(node))
        .start(
            "run",
            "--nnodes=2",
            "--nproc=1",
            "--node-rank=" + node,
            "--master-addr=" + hosts.address(0),
            "--master-port=" + MASTER,
            "--job-key-file=" + folder.resolve("job.key"),
            "--set=model={name: mlp, hidden: [16]}",
            "--set=threads=1",
            "--set=eval={every: end}",
            "--set=epochs=10000",
            // A schedule that would know how many updates are to come would differ.
            "--set=schedule=constant",
            "--max-steps=" + updates,
            "--out=run",
            "--resume=auto");
  }
}
