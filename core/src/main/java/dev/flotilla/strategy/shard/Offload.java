package dev.flotilla.strategy.shard;

import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.TextForm;
import dev.flotilla.settings.TextValue;
import java.util.Arrays;
import java.util.stream.Collectors;

/** Which slices lie beside the device: in the host's memory for a GPU, in files for a CPU. */
@TextForm(words = {"none", "optimizer", "optimizer+parameters"})
public enum Offload implements TextValue {
  /** All slices lie on the device. */
  NONE("none"),
  /** What only the update needs: the optimizer's memory, and gradients that are kept as slices. */
  OPTIMIZER("optimizer"),
  /** The slices of parameters too; each is brought to the device when its segment is gathered. */
  OPTIMIZER_AND_PARAMETERS("optimizer+parameters");

  private final String text;

  Offload(String text) {
    this.text = text;
  }

  /**
   * Reads a word.
   *
   * @throws ConfigException if there is no such word
   */
  public static Offload parse(String text) {
    return Arrays.stream(values())
        .filter(it -> it.text.equals(text))
        .findFirst()
        .orElseThrow(
            () ->
                new ConfigException(
                    "",
                    "must be one of %s, but was '%s'"
                        .formatted(
                            Arrays.stream(values())
                                .map(Offload::text)
                                .collect(Collectors.joining(", ")),
                            text)));
  }

  @Override
  public String text() {
    return text;
  }

  @Override
  public String toString() {
    return text;
  }
}
