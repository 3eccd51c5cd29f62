package dev.flotilla.train;

import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.TextForm;
import dev.flotilla.settings.TextValue;

/** How often something happens in a run. */
@TextForm(
    words = {"epoch", "end"},
    orNumber = true)
public sealed interface Every extends TextValue {

  /** After each epoch, and at the end. */
  static Every epoch() {
    return new Epoch();
  }

  /** Once, at the end. */
  static Every end() {
    return new End();
  }

  /** After each so many updates, and at the end. */
  static Updates updates(long count) {
    return new Updates(count);
  }

  /** Tells whether it happens after so many updates, wherever in an epoch. */
  boolean isDueAfter(long updates);

  /** Tells whether it happens after each epoch. */
  boolean isDueAfterEpoch();

  /** After each epoch, and at the end. */
  record Epoch() implements Every {
    @Override
    public boolean isDueAfter(long updates) {
      return false;
    }

    @Override
    public boolean isDueAfterEpoch() {
      return true;
    }

    @Override
    public String text() {
      return "epoch";
    }
  }

  /** Once, at the end. */
  record End() implements Every {
    @Override
    public boolean isDueAfter(long updates) {
      return false;
    }

    @Override
    public boolean isDueAfterEpoch() {
      return false;
    }

    @Override
    public String text() {
      return "end";
    }
  }

  /** After each so many updates, and at the end. */
  record Updates(long count) implements Every {

    /** Checks that the number is positive. */
    public Updates {
      if (count < 1) {
        throw unknown(Long.toString(count));
      }
    }

    @Override
    public boolean isDueAfter(long updates) {
      return updates % count == 0;
    }

    @Override
    public boolean isDueAfterEpoch() {
      return false;
    }

    @Override
    public String text() {
      return Long.toString(count);
    }
  }

  /** Reads {@code epoch}, {@code end} or a number of updates. */
  static Every parse(String text) {
    return switch (text) {
      case "epoch" -> epoch();
      case "end" -> end();
      default -> updates(number(text));
    };
  }

  private static int number(String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException e) {
      throw unknown(text);
    }
  }

  private static ConfigException unknown(String text) {
    return new ConfigException(
        "", "must be epoch, end or a number of updates, but was '" + text + "'");
  }
}
