package dev.flotilla.bench;

import java.io.IOException;
import java.nio.LongBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;

/** A job of two hosts with one rank each. */
final class StrangerJob implements AutoCloseable {

  private static final String LISTENING = "0A";

  private final List<Process> launchers = new ArrayList<>();
  private final Path folder;
  private final LongBuffer times;

  private StrangerJob(Path folder) throws IOException {
    this.folder = folder;
    this.times = StrangerSteps.times(folder.resolve("times.0"));
  }

  static StrangerJob start(
      StrangerNetwork network, Path folder, Path key, int master, List<String> options)
      throws IOException {
    var job = new StrangerJob(folder);
    for (int host = 0; host < 2; host++) {
      var command =
          StrangerProcess.command(
              network.host(host), false, "-Xmx256m", StrangerSteps.class.getName());
      command.add(folder.resolve("times").toString());
      command.addAll(
          List.of(
              "--nnodes=2",
              "--nproc=1",
              "--node-rank=" + host,
              "--master-addr=" + StrangerNetwork.address(0),
              "--master-port=" + master,
              "--job-key-file=" + key,
              "--log-dir=" + folder.resolve("log" + host)));
      command.addAll(options);
      var builder = new ProcessBuilder(command).redirectErrorStream(true);
      builder.redirectOutput(folder.resolve("said" + host).toFile());
      builder.environment().put("OMP_NUM_THREADS", "1");
      job.launchers.add(builder.start());
    }
    return job;
  }

  boolean isAlive() {
    return launchers.stream().allMatch(Process::isAlive);
  }

  String said() throws IOException {
    return Files.readString(folder.resolve("said0")) + Files.readString(folder.resolve("said1"));
  }

  int steps() {
    return (int) times.get(0);
  }

  long firstStep() {
    return times.get(1);
  }

  /** Returns the times of the steps after one, in milliseconds, sorted. */
  double[] millis(int from) {
    return StrangerLoad.millis(times, from, steps());
  }

  void awaitSteps(int count, Duration longest) throws IOException, InterruptedException {
    long end = System.nanoTime() + longest.toNanos();
    while (steps() < count) {
      if (!isAlive() || System.nanoTime() - end > 0) {
        throw new IOException("the job does not train: " + said());
      }
      Thread.sleep(50);
    }
  }

  /** Returns how long processors have worked for the launchers. */
  double launcherSeconds() {
    return launchers.stream().map(Process::toHandle).mapToDouble(ProcessorTime::seconds).sum();
  }

  /** Returns how long processors have worked for the ranks. */
  double rankSeconds() {
    return launchers.stream()
        .flatMap(Process::descendants)
        .mapToDouble(ProcessorTime::seconds)
        .sum();
  }

  /** Returns all that processes of the job listen on beyond loopback. */
  Set<String> ports() throws IOException {
    var ports = new TreeSet<String>();
    for (int host = 0; host < 2; host++) {
      for (String table : List.of("tcp", "tcp6")) {
        Path file = Path.of("/proc/%d/net/%s".formatted(launchers.get(host).pid(), table));
        for (String line : Files.readAllLines(file)) {
          String[] fields = line.strip().split("\\s+", -1);
          String[] place = fields[1].split(":", -1);
          if (fields[3].equals(LISTENING) && !isLoopback(place[0])) {
            ports.add(StrangerNetwork.address(host) + ":" + Integer.parseInt(place[1], 16));
          }
        }
      }
    }
    return ports;
  }

  /** The kernel writes the last word of an address with its bytes in reverse. */
  private static boolean isLoopback(String address) {
    return address.endsWith("7F");
  }

  /** Ranks die with their launchers. */
  @Override
  public void close() {
    launchers.forEach(Process::destroyForcibly);
    try {
      for (var launcher : launchers) {
        boolean _ = launcher.waitFor(10, TimeUnit.SECONDS);
      }
      Thread.sleep(Duration.ofMillis(500));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
