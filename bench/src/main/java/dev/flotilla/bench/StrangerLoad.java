package dev.flotilla.bench;

import dev.flotilla.control.JobKey;
import dev.flotilla.control.PrivateFiles;
import java.io.IOException;
import java.nio.LongBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * What somebody without the key costs a job of two hosts, who reaches all of its ports: {@code
 * bench/run StrangerLoad flood|tries|start [ROUNDS [SECONDS [OPTION…]]]}, options being the
 * launcher's, {@code --secure} for example.
 *
 * <p>{@code flood} and {@code tries} compare the {@linkplain StrangerTurns time of a step} while a
 * {@linkplain StrangerAttack stranger} does the same to the job, to somebody else, and nothing;
 * {@code start} the time until the first step, with a flood from before the start on, of the
 * launchers' port and with {@code --secure} of all others. The hosts are network namespaces, as is
 * the stranger's. He has the last processor for himself, as he would be on another host, and the
 * job all others. Needs root, {@code ip}, {@code taskset} and two processors.
 */
public final class StrangerLoad {

  private static final int MASTER = 29500;
  private static final double MOST_STEP = 1.05;
  private static final double MOST_START_SECONDS = 2;
  private static final Duration WARM_UP = Duration.ofSeconds(15);
  private static final Duration STARTING_TAKES = Duration.ofMinutes(2);

  private final StrangerNetwork network;
  private final Path folder;
  private final List<String> options;
  private final StrangerProcess stranger;
  private int jobs;

  private StrangerLoad(StrangerNetwork network, Path folder, List<String> options)
      throws IOException {
    this.network = network;
    this.folder = folder;
    this.options = options;
    this.stranger = new StrangerProcess(network);
  }

  /** Prints the ratio, or the difference. */
  public static void main(String[] args) throws Exception {
    String what = args.length > 0 ? args[0] : "flood";
    int pairs = args.length > 1 ? Integer.parseInt(args[1]) : 5;
    int seconds = args.length > 2 ? Integer.parseInt(args[2]) : 10;
    var options = List.of(args).subList(Math.min(3, args.length), args.length);
    var folder = Files.createTempDirectory("stranger-load");
    boolean isSound;
    try (var network = StrangerNetwork.connect()) {
      var load = new StrangerLoad(network, folder, options);
      try {
        isSound = what.equals("start") ? load.starts(pairs) : load.steps(what, pairs, seconds);
      } finally {
        load.stranger.end();
      }
    }
    System.exit(isSound ? 0 : 1);
  }

  private boolean steps(String what, int pairs, int seconds) throws Exception {
    try (var job = job()) {
      job.awaitSteps(1, STARTING_TAKES);
      Thread.sleep(WARM_UP);
      System.out.println("open to others: " + job.ports());
      var turns = new StrangerTurns(job, stranger, what, seconds);
      for (int round = 0; round < pairs; round++) {
        turns.round();
      }
      return turns.report(options) <= MOST_STEP && isReached(what);
    }
  }

  /** On a host that is busy otherwise, attackers get nowhere. */
  private boolean isReached(String what) throws IOException {
    double wanted =
        what.equals("tries") ? StrangerAttack.TRIES_PER_SECOND : StrangerAttack.CONNECTS_PER_SECOND;
    double made = Double.parseDouble(stranger.ask("rate").split(" ", -1)[0]);
    boolean isReached = made >= 0.9 * wanted;
    if (!isReached) {
      System.out.printf(
          Locale.ROOT, "this proves nothing: %.0f a second instead of %.0f%n", made, wanted);
    }
    return isReached;
  }

  private boolean starts(int pairs) throws Exception {
    var differences = new double[pairs];
    for (int pair = 0; pair < pairs; pair++) {
      boolean isLoadFirst = pair % 2 == 1;
      double first = start(isLoadFirst);
      double second = start(!isLoadFirst);
      differences[pair] = isLoadFirst ? first - second : second - first;
    }
    Arrays.sort(differences);
    System.out.printf(
        Locale.ROOT,
        "start %s: seconds more until the first step: median %.2f, %.2f to %.2f, %d pairs%n",
        options,
        differences[pairs / 2],
        differences[0],
        differences[pairs - 1],
        pairs);
    return differences[pairs / 2] <= MOST_START_SECONDS && isReached("flood");
  }

  private double start(boolean isDisturbed) throws Exception {
    String control = StrangerNetwork.address(0) + ":" + (MASTER + 1);
    stranger.ask("to " + control);
    stranger.ask(isDisturbed ? "flood" : "off");
    long start = System.nanoTime();
    try (var job = job()) {
      long end = start + STARTING_TAKES.toNanos();
      while (job.steps() < 1 && System.nanoTime() - end < 0 && job.isAlive()) {
        if (options.contains("--secure")) {
          var ports = new ArrayList<>(job.ports());
          ports.remove(control);
          ports.addFirst(control);
          stranger.ask("to " + String.join(" ", ports));
        }
        Thread.sleep(50);
      }
      if (job.steps() < 1) {
        throw new IOException("the job did not start; " + job.said());
      }
      double seconds = (job.firstStep() - start) / 1e9;
      System.out.printf(
          Locale.ROOT,
          "%s: %.2f s; stranger so far %s a second%n",
          isDisturbed ? "beside a flood" : "alone",
          seconds,
          stranger.ask("off"));
      return seconds;
    }
  }

  private StrangerJob job() throws IOException {
    Path own = Files.createDirectory(folder.resolve("job" + jobs++));
    Path key = own.resolve("job.key");
    try (var out = PrivateFiles.newFile(key)) {
      out.write(JobKey.newText().getBytes(StandardCharsets.US_ASCII));
    }
    return StrangerJob.start(network, own, key, MASTER, options);
  }

  /** Reads times of steps, in milliseconds, sorted. */
  static double[] millis(LongBuffer times, int from, int to) {
    var all = new double[Math.max(1, to - from - 1)];
    for (int i = 0; i < to - from - 1; i++) {
      all[i] = (times.get(from + i + 2) - times.get(from + i + 1)) / 1e6;
    }
    Arrays.sort(all);
    return all;
  }
}
