package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.control.JobKey;
import dev.flotilla.world.ExitCodes;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * A job of two hosts that trains for as long as somebody disturbs it, and once more alone for as
 * many updates: both must have learned the same. Needs {@code prlimit}.
 */
final class DisturbedJob {

  static final int CONTROL = 29501;

  private static final int MASTER = CONTROL - 1;

  /** More than are made while somebody tries: the job is stopped then, and ends a little later. */
  private static final long FOREVER = 10_000_000;

  private static final int AFTERWARDS = 20;

  /** J4: the stranger has more connections. */
  private static final String FILES = "--nofile=512:512";

  private static final String DISTURBED = "disturbed";
  private static final String ALONE = "alone";

  private final TwoHosts hosts;
  private final Path folder;
  private final List<String> options;

  /** What disturbs the job, once both launchers have been started. */
  interface Disturber {

    /** Returns once that is over. */
    void disturb(Running first, Running second) throws Exception;
  }

  DisturbedJob(TwoHosts hosts, Path folder, String... options) throws IOException {
    this.hosts = hosts;
    this.folder = folder;
    this.options = List.of(options);
    KeyFile.write(folder.resolve("job.key"), JobKey.newText());
  }

  /** Returns where the launchers talk. */
  String control() {
    return hosts.address(0) + ":" + CONTROL;
  }

  /** Trains disturbed, then alone, and compares; returns what the first launcher has said. */
  String learnsTheSame(int tries, Disturber disturber) throws Exception {
    Ended stopped;
    try (var first = start(0, DISTURBED, FOREVER);
        var second = start(1, DISTURBED, FOREVER)) {
      disturber.disturb(first, second);
      Running.signal("TERM", first.process().toHandle());
      stopped = first.await(Duration.ofMinutes(1)).expect(ExitCodes.STOPPED);
      second.await().expect(ExitCodes.STOPPED);
    }
    long updates = lastUpdate(stopped) + AFTERWARDS;
    trains(DISTURBED, updates);
    trains(ALONE, updates);
    System.out.printf(
        "%d updates, a stranger's %d tries: %.0f samples/s beside them, %.0f alone%n",
        updates, tries, speed(DISTURBED), speed(ALONE));
    assertThat(run(DISTURBED).weights()).isEqualTo(run(ALONE).weights());
    return stopped.err();
  }

  private static long lastUpdate(Ended stopped) {
    var matcher =
        Pattern.compile("stopped on request after update (\\d+)")
            .matcher(stopped.out() + stopped.err());
    assertThat(matcher.find()).as(stopped.out()).isTrue();
    return Long.parseLong(matcher.group(1));
  }

  /** Waits until the job that is disturbed trains. */
  void awaitTraining(Running first) {
    first.awaitTraining(runFolder(DISTURBED));
  }

  /** Tells whether the job that is disturbed has begun to train. */
  boolean hasBegun() {
    return runFolder(DISTURBED).resolve("events.jsonl").toFile().exists();
  }

  /** Returns where processes of the job listen beyond loopback. */
  Set<String> listening(Running first, Running second) {
    return places(first, second, true);
  }

  /** Returns the ports that the job uses, or has used, but for the launchers' own. */
  Set<String> others(Running first, Running second) {
    Set<String> all = places(first, second, false);
    assertThat(all).as("ports of connections").hasSizeGreaterThan(1);
    all.add(hosts.address(0) + ":" + MASTER);
    all.add(hosts.address(1) + ":" + MASTER);
    all.remove(control());
    return all;
  }

  private Set<String> places(Running first, Running second, boolean isListening) {
    var places = new TreeSet<String>();
    for (int node = 0; node < 2; node++) {
      for (ProcessHandle process : (node == 0 ? first : second).living()) {
        for (TcpSocket socket : TcpSocket.of(process)) {
          if (!isListening || (socket.isListening() && !socket.isLoopback())) {
            places.add(hosts.address(node) + ":" + socket.port());
          }
        }
      }
    }
    return places;
  }

  /** Trains to an update, from where the run was stopped if it was. */
  private void trains(String name, long updates) {
    try (var first = start(0, name, updates);
        var second = start(1, name, updates)) {
      first.await(Duration.ofMinutes(20)).expect(0);
      second.await().expect(0);
    }
  }

  private RunFiles run(String name) {
    return new RunFiles(runFolder(name));
  }

  private Path runFolder(String name) {
    return host(0, name).work().resolve("run");
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

  private Flotilla host(int node, String name) {
    return Flotilla.in(folder.resolve(name + node));
  }

  private Running start(int node, String name, long updates) {
    var arguments = hosts.job(node, MASTER, folder.resolve("job.key"), 16);
    // A schedule that would know how many updates are to come would differ.
    arguments.add("--set=schedule=constant");
    arguments.addAll(List.of("--max-steps=" + updates, "--resume=auto"));
    arguments.addAll(options);
    return host(node, name)
        .through("prlimit", FILES, "ip", "netns", "exec", hosts.name(node))
        .start(arguments.toArray(String[]::new));
  }
}
