package dev.flotilla.launch;

import dev.flotilla.launch.FlagReader.Given;
import dev.flotilla.world.RankEnvironment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Reads the options about failures, hangs and requests to stop. */
final class PolicyFlags {

  private final FlagReader flags;
  private final Map<String, String> environment;
  private final FailurePolicy defaults = FailurePolicy.defaults();

  PolicyFlags(FlagReader flags, Map<String, String> environment) {
    this.flags = flags;
    this.environment = environment;
  }

  FailurePolicy policy() {
    boolean insecure = flags.value(FlagTable.INSECURE).isPresent();
    boolean checks = flags.value(FlagTable.CHECK_COLLECTIVES).isPresent();
    return new FailurePolicy(
        maxRestarts(), stopGrace(), hangTimeout(), jobKey(), insecure, checks, secure());
  }

  private Optional<SecureMode> secure() {
    Optional<Path> certificate = file(FlagTable.TLS_CERT);
    Optional<Path> key = file(FlagTable.TLS_KEY);
    Optional<Path> authority = file(FlagTable.TLS_CA);
    long given = Stream.of(certificate, key, authority).filter(Optional::isPresent).count();
    if (given == 1 || given == 2) {
      flags.problem(
          "--tls-cert, --tls-key and --tls-ca go together: give all three, or none for a"
              + " certificate that is made for the job");
    }
    boolean isAskedFor = flags.value(FlagTable.SECURE).isPresent();
    if (given > 0 && !isAskedFor) {
      flags.problem("--tls-cert, --tls-key and --tls-ca are for --secure: give it as well");
    }
    return !isAskedFor
        ? Optional.empty()
        : Optional.of(
            new SecureMode(
                given == 3
                    ? Optional.of(
                        new TlsFiles(
                            certificate.orElseThrow(), key.orElseThrow(), authority.orElseThrow()))
                    : Optional.empty()));
  }

  private Optional<Path> file(String flag) {
    return flags.value(flag).map(Given::value).map(Path::of);
  }

  private int maxRestarts() {
    return flags
        .value(FlagTable.MAX_RESTARTS)
        .map(
            given ->
                flags.number(
                    given, 0, FailurePolicy.MOST_RESTARTS, "a whole number from 0 to 1000"))
        .orElse(defaults.maxRestarts());
  }

  private Duration stopGrace() {
    return flags
        .value(FlagTable.STOP_GRACE)
        .map(given -> seconds(given, 1, "a whole number of seconds from 1 to 3600"))
        .orElse(defaults.stopGrace());
  }

  private Duration hangTimeout() {
    Optional<Given> given = flags.value(FlagTable.HANG_TIMEOUT);
    if (given.isEmpty()) {
      return defaults.hangTimeout();
    }
    return given.get().value().strip().equals("0")
        ? Duration.ZERO
        : seconds(
            given.get(),
            FailurePolicy.SHORTEST_HANG_SECONDS,
            "0 for never, or a whole number of seconds from 5 to 3600");
  }

  private Duration seconds(Given given, int least, String allowed) {
    return Duration.ofSeconds(flags.number(given, least, FailurePolicy.LONGEST_SECONDS, allowed));
  }

  private Optional<Path> jobKey() {
    return flags
        .value(FlagTable.JOB_KEY)
        .map(Given::value)
        .or(() -> Optional.ofNullable(environment.get(RankEnvironment.JOB_KEY_FILE)))
        .map(Path::of);
  }
}
