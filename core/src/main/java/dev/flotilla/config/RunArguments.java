package dev.flotilla.config;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * A program's arguments: the configuration, and what is left for the program itself.
 *
 * @param config what the recipe and the options say
 * @param out the folder given with {@code --out}
 * @param rest further arguments without an option, and all after {@code --}
 */
public record RunArguments(RunConfig config, Optional<Path> out, List<String> rest) {

  /** Copies the list. */
  public RunArguments {
    rest = List.copyOf(rest);
  }
}
