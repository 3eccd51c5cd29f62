package dev.flotilla.spark;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.jspecify.annotations.Nullable;

/** Trains a recipe as a Spark application: {@code spark-submit --class dev.flotilla.spark.Main}. */
public final class Main {

  private static final String USAGE =
      "usage: Main RECIPE --out DIR [--ranks N] [--max-restarts N] [--job-key-file FILE |"
          + " --insecure] [-- ARGUMENTS OF flotilla run]";

  private @Nullable String recipe;
  private @Nullable String out;
  private int ranks = 2;
  private int maxRestarts = 3;
  private String keyFile = "";
  private boolean insecure;
  private List<String> arguments = List.of();

  private Main() {}

  /** Trains, and throws where that fails, so that Spark reports the application as failed. */
  public static void main(String[] args) {
    var main = new Main();
    main.parse(List.of(args));
    var job =
        FlotillaSpark.job(
            Path.of(main.required(main.recipe)), main.ranks, Path.of(main.required(main.out)));
    var session =
        SparkSession.builder()
            .appName("flotilla " + main.recipe)
            .config(Requirements.BARRIER_TIMEOUT, "60s")
            .getOrCreate();
    try {
      var folder =
          FlotillaSpark.train(
              session,
              new SparkJob(
                  job.recipe(),
                  main.ranks,
                  job.out(),
                  main.arguments,
                  main.maxRestarts,
                  main.keyFile,
                  main.insecure));
      System.out.println("run folder: " + folder);
    } finally {
      session.stop();
    }
  }

  private void parse(List<String> args) {
    var words = new ArrayList<>(args).iterator();
    while (words.hasNext()) {
      var word = words.next();
      switch (word) {
        case "--ranks" -> ranks = number(word, words.hasNext() ? words.next() : "");
        case "--max-restarts" -> maxRestarts = number(word, words.hasNext() ? words.next() : "");
        case "--out" -> out = words.hasNext() ? words.next() : null;
        case "--job-key-file" -> keyFile = words.hasNext() ? words.next() : "";
        case "--insecure" -> insecure = true;
        case "--" -> {
          arguments = new ArrayList<>();
          words.forEachRemaining(arguments::add);
        }
        default -> {
          if (recipe != null || word.startsWith("-")) {
            throw new SparkJobException(ExitCode.USAGE, "unknown '" + word + "'; " + USAGE);
          }
          recipe = word;
        }
      }
    }
  }

  private String required(@Nullable String value) {
    if (value == null) {
      throw new SparkJobException(ExitCode.USAGE, USAGE);
    }
    return value;
  }

  private static int number(String option, String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException e) {
      throw new SparkJobException(
          ExitCode.USAGE, "%s must be a whole number, but was '%s'".formatted(option, text));
    }
  }
}
