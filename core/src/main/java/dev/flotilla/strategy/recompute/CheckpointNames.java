package dev.flotilla.strategy.recompute;

import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.TextForm;
import dev.flotilla.settings.TextValue;
import java.util.List;
import java.util.stream.Stream;

/**
 * The segments whose outputs are kept: named ones, or {@code auto} for those that a plan finds.
 *
 * @param names in any order; empty for auto
 */
@TextForm(
    words = {CheckpointNames.AUTO_WORD},
    orList = true)
public record CheckpointNames(List<String> names) implements TextValue {

  static final String AUTO_WORD = "auto";

  /** Whatever a plan finds. */
  public static final CheckpointNames AUTO = new CheckpointNames(List.of());

  /** Copies the list. */
  public CheckpointNames {
    names = List.copyOf(names);
  }

  /** Reads {@code auto}, or names with commas between them. */
  public static CheckpointNames parse(String text) {
    if (text.equals(AUTO_WORD)) {
      return AUTO;
    }
    var names = Stream.of(text.split(",", -1)).map(String::strip).toList();
    if (names.stream().anyMatch(String::isEmpty)) {
      throw new ConfigException(
          "", "must be auto, or name at least one segment and none twice, but was '" + text + "'");
    }
    if (names.stream().distinct().count() < names.size()) {
      throw new ConfigException("", "must name no segment twice, but was '" + text + "'");
    }
    return new CheckpointNames(names);
  }

  boolean isAuto() {
    return names.isEmpty();
  }

  @Override
  public String text() {
    return isAuto() ? AUTO_WORD : String.join(", ", names);
  }

  @Override
  public String toString() {
    return text();
  }
}
