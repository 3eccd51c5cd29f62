package dev.flotilla.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;

/** What a Spark application must be like before ranks can start in it. */
final class Requirements {

  static final String HOME = "spark.flotilla.home";
  static final String JDK = "spark.flotilla.jdk";
  static final String BARRIER_TIMEOUT = "spark.barrier.sync.timeout";

  private static final Set<String> ENCRYPTED =
      Set.of("spark.network.crypto.enabled", "spark.ssl.rpc.enabled");
  private static final long POLL_MILLIS = 250;

  private final SparkContext context;
  private final SparkJob job;

  Requirements(SparkContext context, SparkJob job) {
    this.context = context;
    this.job = job;
  }

  /** Tells whether what tasks tell each other can be read on the way. */
  static boolean isEncrypted(SparkConf conf) {
    return ENCRYPTED.stream().anyMatch(key -> conf.getBoolean(key, false));
  }

  /**
   * Checks everything that can be known in the driver.
   *
   * @throws SparkJobException with all that is wrong
   */
  static void check(SparkConf conf, SparkJob job) {
    List<String> problems = new ArrayList<>();
    if (conf.get(HOME, "").isEmpty()) {
      problems.add(HOME + " is not set: name the folder with Flotilla on every executor's host");
    }
    if (conf.getBoolean("spark.dynamicAllocation.enabled", false)) {
      problems.add(
          "spark.dynamicAllocation.enabled is true, but the number of ranks is fixed: set it to"
              + " false, and spark.executor.instances to a number");
    }
    if (conf.getTimeAsSeconds(BARRIER_TIMEOUT, "365d") > 3600) {
      problems.add(
          BARRIER_TIMEOUT
              + " is longer than an hour (365 days by default): set it to 60s, so that"
              + " a rank that is not there is noticed");
    }
    if (job.keyFile().isEmpty() && !job.insecure() && !isEncrypted(conf)) {
      problems.add(
          "launchers need a key that nobody can read on the way: set spark.network.crypto.enabled,"
              + " name a key file that every host has, or say --insecure");
    }
    if (!problems.isEmpty()) {
      throw new SparkJobException(ExitCode.USAGE, String.join("\n", problems));
    }
  }

  /** Waits for as many free slots as there are ranks. */
  void awaitSlots(long seconds) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    int slots = slots();
    while (slots < job.ranks() && System.nanoTime() < end) {
      Thread.sleep(POLL_MILLIS);
      slots = slots();
    }
    if (slots < job.ranks()) {
      throw new SparkJobException(
          ExitCode.USAGE,
          ("%d ranks need as many slots at once, but the executors have %d after %d s: give Spark"
                  + " more executors or cores, or ask for fewer ranks")
              .formatted(job.ranks(), slots, seconds));
    }
  }

  private int slots() {
    return context.maxNumConcurrentTasks(context.resourceProfileManager().defaultResourceProfile());
  }
}
