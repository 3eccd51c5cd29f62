package dev.flotilla.settings;

import dev.flotilla.world.ExitCoded;
import dev.flotilla.world.ExitCodes;
import java.util.List;
import java.util.stream.Collectors;

/** Thrown when values of a configuration are wrong; carries all problems found, not the first. */
public final class ConfigException extends RuntimeException implements ExitCoded {

  private final transient List<Problem> problems;

  /** Creates an exception for at least one problem. */
  public ConfigException(List<Problem> problems) {
    super(problems.stream().map(Problem::toString).collect(Collectors.joining("\n")));
    if (problems.isEmpty()) {
      throw new IllegalArgumentException("a configuration exception needs a problem");
    }
    this.problems = List.copyOf(problems);
  }

  /** Creates an exception for one problem without a place. */
  public ConfigException(String key, String message) {
    this(List.of(new Problem("", key, message, "")));
  }

  /** Creates an exception for settings in a package that their module does not open. */
  public static ConfigException closed(Class<?> settings) {
    return new ConfigException(
        settings.getSimpleName(),
        "%s cannot be read, as its package is closed: write 'opens %s to dev.flotilla.core;' into"
                .formatted(settings.getName(), settings.getPackageName())
            + " the module-info of "
            + settings.getModule().getName());
  }

  /** Returns the problems in the order in which they were found. */
  public List<Problem> problems() {
    return problems;
  }

  @Override
  public int exitCode() {
    return ExitCodes.USAGE;
  }
}
