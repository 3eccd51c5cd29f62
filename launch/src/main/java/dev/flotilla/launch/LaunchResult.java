package dev.flotilla.launch;

import dev.flotilla.world.ExitCodes;
import java.util.Optional;

/**
 * How a launch ended.
 *
 * @param exitCode exit code for the launcher's process, one of {@link ExitCodes} or the failed
 *     rank's
 * @param failure the first failure, if a rank failed
 */
public record LaunchResult(int exitCode, Optional<Failure> failure) {

  static LaunchResult completed() {
    return new LaunchResult(ExitCodes.OK, Optional.empty());
  }

  static LaunchResult interrupted() {
    return ended(ExitCodes.INTERRUPTED);
  }

  /** A launch that ended as it was asked to. */
  static LaunchResult ended(int exitCode) {
    return new LaunchResult(exitCode, Optional.empty());
  }

  static LaunchResult failed(Failure failure) {
    return new LaunchResult(failure.exitCode(), Optional.of(failure));
  }
}
