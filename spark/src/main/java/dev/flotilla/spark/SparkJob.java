package dev.flotilla.spark;

import java.io.Serializable;
import java.util.List;

/**
 * What is to be trained, and how.
 *
 * @param recipe text of the recipe, whose paths must be right on every executor
 * @param ranks number of ranks, each in a task of its own
 * @param out the run's folder, on a file system that all executors reach
 * @param arguments further arguments of {@code flotilla run}, such as {@code --set}
 * @param maxRestarts how often the job is submitted again after a failure
 * @param keyFile file with the job's key on every executor's host; empty for none
 * @param insecure whether launchers may do without a key
 */
public record SparkJob(
    String recipe,
    int ranks,
    String out,
    List<String> arguments,
    int maxRestarts,
    String keyFile,
    boolean insecure)
    implements Serializable {

  /** Checks the numbers, and that the folder means the same to every executor. */
  public SparkJob {
    arguments = List.copyOf(arguments);
    require(ranks >= 1 && ranks <= 65536, "ranks must be from 1 to 65536, but was " + ranks);
    require(maxRestarts >= 0, "max-restarts must be at least 0, but was " + maxRestarts);
    require(
        out.startsWith("/"),
        "the run's folder must be an absolute path that all executors reach, but was " + out);
  }

  private static void require(boolean holds, String message) {
    if (!holds) {
      throw new SparkJobException(ExitCode.USAGE, message);
    }
  }

  /** Returns the job with a number of restarts. */
  public SparkJob withMaxRestarts(int number) {
    return new SparkJob(recipe, ranks, out, arguments, number, keyFile, insecure);
  }

  /** Returns the job with further arguments of {@code flotilla run}. */
  public SparkJob withArguments(List<String> words) {
    return new SparkJob(recipe, ranks, out, words, maxRestarts, keyFile, insecure);
  }

  /** Returns the job without a key, for a network where everybody is trusted. */
  public SparkJob withoutKey() {
    return new SparkJob(recipe, ranks, out, arguments, maxRestarts, "", true);
  }
}
