package dev.flotilla.launch;

import dev.flotilla.control.JobKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Finds the key of a job of several hosts. */
final class JobKeys {

  private static final String MAKE_ONE = "openssl rand -hex 32 > job.key && chmod 600 job.key";

  private JobKeys() {}

  /** Returns what to say where several hosts have no key. */
  static String missing(int nodes) {
    return ("%d hosts need a key, so that nobody else can join, read or stop the job: make one"
            + " (%s), copy it to every host"
            + " and give --job-key-file job.key; or give --insecure, where everybody who"
            + " reaches the hosts is trusted")
        .formatted(nodes, MAKE_ONE);
  }

  /**
   * Returns why a key file is of no use, if it is not.
   *
   * <p>An inherited descriptor can be read only once, so that it is only looked for.
   */
  static Optional<String> problemWith(Path file) {
    try {
      if (!Files.exists(file)) {
        return Optional.of(
            JobKey.isInherited(file)
                ? "the job's key: nothing is inherited as %s".formatted(file)
                : "the job's key: %s does not exist; make one (%s) and copy it to every host"
                    .formatted(file, MAKE_ONE));
      }
      if (!JobKey.isInherited(file)) {
        var _ = JobKey.read(file);
      }
      return Optional.empty();
    } catch (IOException e) {
      return Optional.of("the job's key: " + FileTrouble.in(e));
    }
  }

  /**
   * Reads the key, which serves this job alone; a job of one host needs none.
   *
   * @throws LaunchException if it is of no use, or if there is none and none was not asked for
   */
  static Optional<JobKey> of(LaunchSettings settings, Console console) {
    if (settings.isOneHost()) {
      return Optional.empty();
    }
    Optional<Path> file = settings.policy().jobKey();
    if (file.isEmpty() && !settings.policy().insecure()) {
      throw new LaunchException(List.of(missing(settings.nodes())));
    }
    if (file.isEmpty()) {
      console.say(
          "warning: INSECURE: the %d hosts have no key, so whoever reaches them can read, change,"
                  .formatted(settings.nodes())
              + " join and stop the job, and choose where it writes; give all the same"
              + " --job-key-file in place of --insecure");
    }
    JobKey key = file.isPresent() ? read(file.get()) : JobKey.known();
    return Optional.of(key.derived("job " + settings.jobId()));
  }

  private static JobKey read(Path file) {
    problemWith(file).ifPresent(JobKeys::refuse);
    try {
      return JobKey.read(file);
    } catch (IOException e) {
      throw new LaunchException("the job's key: " + FileTrouble.in(e));
    }
  }

  private static void refuse(String problem) {
    throw new LaunchException(problem);
  }
}
