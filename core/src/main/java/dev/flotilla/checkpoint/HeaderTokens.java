package dev.flotilla.checkpoint;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * The JSON tokens of a safetensors header, taken one by one as the kind that must come next.
 *
 * <p>What they are is asked for only when a message needs it: a header may have millions of them.
 */
final class HeaderTokens {

  private final Path file;
  private final JsonParser json;

  HeaderTokens(Path file, JsonParser json) {
    this.file = file;
    this.json = json;
  }

  /** Enters an object. */
  void enterObject(Supplier<String> what) {
    require(json.nextToken(), JsonToken.START_OBJECT, what);
  }

  /** Moves to the next key of the object that was entered; null at its end. */
  @Nullable String nextKey() {
    return json.nextName();
  }

  /** Takes a text. */
  String text(Supplier<String> what) {
    require(json.nextToken(), JsonToken.VALUE_STRING, what);
    return json.getString();
  }

  /** Takes an array of integers that are not negative. */
  long[] numbers(Supplier<String> what, int limit) {
    require(json.nextToken(), JsonToken.START_ARRAY, what);
    var numbers = new long[limit];
    int count = 0;
    for (var token = json.nextToken(); token != JsonToken.END_ARRAY; token = json.nextToken()) {
      require(token, JsonToken.VALUE_NUMBER_INT, () -> "every element of " + what.get());
      if (count == limit) {
        throw malformed("%s has more than %d elements".formatted(what.get(), limit));
      }
      numbers[count++] = notNegative(what, json.getLongValue());
    }
    return Arrays.copyOf(numbers, count);
  }

  /** Requires that nothing but space follows. */
  void end() {
    if (json.nextToken() != null) {
      throw malformed("text follows the header's object");
    }
  }

  CheckpointException malformed(String what) {
    return CheckpointException.malformed(file, what);
  }

  private long notNegative(Supplier<String> what, long number) {
    if (number < 0) {
      throw malformed("%s holds the negative number %d".formatted(what.get(), number));
    }
    return number;
  }

  private void require(@Nullable JsonToken found, JsonToken expected, Supplier<String> what) {
    if (found != expected) {
      throw malformed(
          "%s must be %s, but %s was found at character %d of the header"
              .formatted(
                  what.get(),
                  describe(expected),
                  describe(found),
                  json.currentTokenLocation().getCharOffset()));
    }
  }

  private static String describe(@Nullable JsonToken token) {
    return switch (token) {
      case null -> "the end";
      case START_OBJECT -> "an object";
      case END_OBJECT -> "the end of an object";
      case START_ARRAY -> "an array";
      case VALUE_STRING -> "a text";
      case VALUE_NUMBER_INT -> "an integer";
      case VALUE_NUMBER_FLOAT -> "a fraction";
      default -> token.asString();
    };
  }
}
