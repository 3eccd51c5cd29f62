package dev.flotilla.zoo.table;

import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.HomePath;
import dev.flotilla.settings.TextValue;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The path of a table, which remembers what was read of it: a run asks its data for the form of
 * samples, their number, the names of classes and the samples themselves one after the other.
 */
public final class TableFile implements TextValue {

  private final Path path;
  private @Nullable TableData data;

  private TableFile(Path path) {
    this.path = path;
  }

  /** Returns the file at a path. */
  public static TableFile of(Path path) {
    return new TableFile(path);
  }

  /** Reads a path as people write it. */
  public static TableFile parse(String text) {
    try {
      if (!text.isBlank()) {
        return new TableFile(HomePath.of(text));
      }
    } catch (InvalidPathException _) {
      // Falls through: the reason would name the platform's rules, not the recipe's.
    }
    throw new ConfigException("", "must be a path, but was '%s'".formatted(text));
  }

  /** Returns the path. */
  public Path path() {
    return path;
  }

  /** Returns the table by these source, which is read once. */
  synchronized TableData data(TableSource source) {
    var known = data;
    if (known == null || !known.source().equals(source)) {
      known = new TableData(source);
      data = known;
    }
    return known;
  }

  @Override
  public String text() {
    return path.toString();
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof TableFile file && path.equals(file.path);
  }

  @Override
  public int hashCode() {
    return path.hashCode();
  }

  @Override
  public String toString() {
    return text();
  }
}
