package dev.flotilla.launch;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * What the launcher's command line says.
 *
 * @param settings what to launch; its log folder is {@code log} where none was given
 * @param logDir the log folder, where one was given
 * @param mainClass class to run instead of the application's own
 * @param classPath class path to add for it
 * @param appArguments options of the application, in the order given
 * @param rest everything from the first argument that is no option, or behind {@code --}
 * @param warnings one line for each option that has no effect
 */
public record ParsedFlags(
    LaunchSettings settings,
    Optional<Path> logDir,
    Optional<String> mainClass,
    Optional<String> classPath,
    List<String> appArguments,
    List<String> rest,
    List<String> warnings) {

  /** Copies the lists. */
  public ParsedFlags {
    appArguments = List.copyOf(appArguments);
    rest = List.copyOf(rest);
    warnings = List.copyOf(warnings);
  }
}
