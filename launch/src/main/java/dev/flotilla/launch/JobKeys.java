package dev.flotilla.launch;

import dev.flotilla.control.JobKey;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Finds the key of a job of several hosts. */
final class JobKeys {

  private JobKeys() {}

  /** Returns what to say where several hosts have no key. */
  static String missing(int nodes) {
    return ("%d hosts need a key, so that nobody else can join, read or stop the job: make one"
            + " (openssl rand -hex 32 > job.key && chmod 600 job.key), copy it to every host"
            + " and give --job-key-file job.key; or give --insecure, where everybody who"
            + " reaches the hosts is trusted")
        .formatted(nodes);
  }

  /**
   * Reads the key, which serves this job alone.
   *
   * @throws LaunchException if there is none, and none was not asked for
   */
  static JobKey of(LaunchSettings settings, Console console) throws IOException {
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
    JobKey key = file.isPresent() ? JobKey.read(file.get()) : JobKey.known();
    return key.derived("job " + settings.jobId());
  }
}
