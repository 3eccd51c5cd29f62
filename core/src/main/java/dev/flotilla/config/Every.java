package dev.flotilla.config;

import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.TextForm;
import dev.flotilla.settings.TextValue;

/** How often something happens in a run. */
@TextForm(
    words = {"epoch", "end"},
    orNumber = true)
public sealed interface Every extends TextValue {

  /** After each epoch, and at the end. */
  record Epoch() implements Every {
    @Override
    public String text() {
      return "epoch";
    }
  }

  /** Once, at the end. */
  record End() implements Every {
    @Override
    public String text() {
      return "end";
    }
  }

  /** After each so many updates, and at the end. */
  record Updates(int count) implements Every {

    /** Checks that the number is positive. */
    public Updates {
      if (count < 1) {
        throw unknown(Integer.toString(count));
      }
    }

    @Override
    public String text() {
      return Integer.toString(count);
    }
  }

  /** Reads {@code epoch}, {@code end} or a number of updates. */
  static Every parse(String text) {
    return switch (text) {
      case "epoch" -> new Epoch();
      case "end" -> new End();
      default -> new Updates(updates(text));
    };
  }

  private static int updates(String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException e) {
      throw unknown(text);
    }
  }

  private static ConfigException unknown(String text) {
    String expected = "must be epoch, end or a number of updates";
    return new ConfigException("", expected + ", but was " + Text.quoted(text));
  }
}
