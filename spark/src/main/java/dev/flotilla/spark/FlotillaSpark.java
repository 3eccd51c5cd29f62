package dev.flotilla.spark;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.apache.spark.SparkException;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import scala.reflect.ClassTag$;

/**
 * Trains a recipe of Flotilla in a Spark application.
 *
 * <pre>{@code
 * FlotillaSpark.train(session, Path.of("/shared/digits.yaml"), 2);
 * }</pre>
 *
 * <p>Spark ends all tasks of a job of which one fails; the driver then submits the job again, which
 * goes on from the newest checkpoint.
 */
public final class FlotillaSpark {

  private static final long SLOTS_TAKE_SECONDS = 60;
  private static final long PAUSE_SECONDS = 1;

  private final SparkSession session;
  private final SparkJob job;

  private FlotillaSpark(SparkSession session, SparkJob job) {
    this.session = session;
    this.job = job;
  }

  /**
   * Trains a recipe into a folder {@code runs/TIME} beside it.
   *
   * @throws SparkJobException if the job is refused or fails
   */
  public static Path train(SparkSession session, Path recipe, int ranks) {
    var out =
        recipe
            .toAbsolutePath()
            .resolveSibling("runs")
            .resolve("spark-" + System.currentTimeMillis());
    return train(session, job(recipe, ranks, out));
  }

  /**
   * Trains a job to its end.
   *
   * @return the run's folder
   * @throws SparkJobException if the job is refused or fails
   */
  public static Path train(SparkSession session, SparkJob job) {
    new FlotillaSpark(session, job).run();
    return Path.of(job.out());
  }

  /** Returns a job with three restarts, whose key goes through Spark's encrypted calls. */
  public static SparkJob job(Path recipe, int ranks, Path out) {
    try {
      return new SparkJob(Files.readString(recipe), ranks, out.toString(), List.of(), 3, "", false);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the recipe " + recipe, e);
    }
  }

  /**
   * Writes rows once, for any number of runs: a recipe names the folder as {@code data: {name:
   * rows, path: ...}}.
   *
   * @param train rows to train on
   * @param test rows to test with
   * @param features columns of numbers, or of arrays of numbers, in the order of the model's inputs
   * @param label column with the class, from 0
   * @param folder a new folder that all executors reach
   * @throws SparkJobException if a row cannot be written, or the folder holds rows already
   */
  public static void writeRows(
      Dataset<Row> train, Dataset<Row> test, List<String> features, String label, Path folder) {
    try {
      new RowFolder(folder, features, label).write(train, test);
    } catch (Exception failure) {
      var refused = refusal(String.valueOf(failure.getMessage()));
      if (refused.isPresent()) {
        throw refused.get();
      }
      throw failure;
    }
  }

  /**
   * Predicts the test rows of a folder, or the test data of the run.
   *
   * @param run folder of a finished run, which all executors reach
   * @param rows folder of rows; empty for the run's own test data
   * @param out a new file for the answers, which all executors reach
   * @return the answers: the number of the sample, its class, and the probabilities
   * @throws SparkJobException if the prediction fails
   */
  public static Dataset<Row> predict(
      SparkSession session, Path run, Optional<Path> rows, Path out) {
    var arguments = new ArrayList<>(List.of("predict", run.toString(), "--out", out.toString()));
    rows.ifPresent(
        folder -> arguments.addAll(List.of("--data", "{name: rows, path: '" + folder + "'}")));
    var task = new CommandTask(arguments);
    var context = JavaSparkContext.fromSparkContext(session.sparkContext());
    try {
      context.parallelize(List.of(0), 1).foreach(task::run);
    } catch (Exception failure) {
      throw new SparkJobException(
          ExitCode.FAILED, String.valueOf(failure.getMessage()).split("\n\tat ", 2)[0]);
    }
    return session
        .read()
        .option("header", true)
        .option("inferSchema", true)
        .csv(out.toUri().toString());
  }

  private static Optional<RuntimeException> refusal(String failure) {
    int refused = failure.indexOf(SparkJobException.REFUSED);
    return refused < 0
        ? Optional.empty()
        : Optional.of(
            new SparkJobException(
                ExitCode.USAGE,
                failure.substring(refused + SparkJobException.REFUSED.length())
                    .split("\n\tat ", 2)[0]));
  }

  private void run() {
    var requirements = new Requirements(session.sparkContext(), job);
    Requirements.check(session.sparkContext().conf(), job);
    try {
      for (int attempt = 0; ; attempt++) {
        requirements.awaitSlots(SLOTS_TAKE_SECONDS);
        var failure = tried(attempt);
        if (failure.isEmpty()) {
          return;
        }
        requireRestart(failure, attempt);
        say("restart %d of %d: %s", attempt + 1, job.maxRestarts(), firstLine(failure));
        Thread.sleep(PAUSE_SECONDS * 1000); // an executor that has died is missed by then
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new SparkJobException(130, "interrupted while the job was running");
    }
  }

  /** Returns what has failed; nothing if all ranks have ended well. */
  private String tried(int attempt) {
    try {
      submit(attempt);
      return "";
    } catch (Exception failure) {
      if (failure instanceof SparkException || failure.getCause() instanceof SparkException) {
        return String.valueOf(failure.getMessage());
      }
      throw failure;
    }
  }

  private void submit(int attempt) {
    var context = JavaSparkContext.fromSparkContext(session.sparkContext());
    var heartbeats = context.sc().longAccumulator("flotilla seconds of living ranks");
    boolean sendsKey =
        job.keyFile().isEmpty() && !job.insecure() && Requirements.isEncrypted(context.getConf());
    context
        .parallelize(Collections.<Object>nCopies(job.ranks(), 0), job.ranks())
        .rdd()
        .barrier()
        .mapPartitions(
            new RankTask(job, attempt, sendsKey, heartbeats), false, ClassTag$.MODULE$.Object())
        .collect();
  }

  private void requireRestart(String failure, int attempt) {
    refusal(failure)
        .ifPresent(
            refused -> {
              throw refused;
            });
    int code = RankFailure.exitCode(failure).orElse(ExitCode.FAILED);
    if (ExitCode.isFinal(code) || attempt >= job.maxRestarts()) {
      throw new SparkJobException(code, failure.split("\n\tat ", 2)[0]);
    }
  }

  private static String firstLine(String text) {
    return RankFailure.exitCode(text).isPresent()
        ? text.replaceAll("(?s).*?(rank \\d+ ended with exit code \\d+).*", "$1")
        : text.lines().findFirst().orElse("");
  }

  private static void say(String text, Object... values) {
    System.err.println("flotilla: " + text.formatted(values));
  }
}
