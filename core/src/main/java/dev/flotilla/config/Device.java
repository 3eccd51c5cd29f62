package dev.flotilla.config;

import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.TextForm;
import dev.flotilla.settings.TextValue;

/** Where tensors live. */
@TextForm(words = {"cpu", "auto"})
public enum Device implements TextValue {
  /** Main memory. */
  CPU("cpu"),
  /** The best this version supports, which is the CPU. */
  AUTO("auto");

  private final String text;

  Device(String text) {
    this.text = text;
  }

  /** Reads a device. */
  public static Device parse(String text) {
    return switch (text) {
      case "cpu" -> CPU;
      case "auto" -> AUTO;
      default -> throw unknown(text);
    };
  }

  private static ConfigException unknown(String text) {
    boolean isGpu = text.equals("gpu") || text.startsWith("cuda");
    String reason = isGpu ? "; GPU support is not in this version" : "";
    return new ConfigException("", "must be cpu or auto, but was " + Text.quoted(text) + reason);
  }

  @Override
  public String text() {
    return text;
  }
}
