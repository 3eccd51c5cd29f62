package dev.flotilla.config;

import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.HomePath;
import dev.flotilla.settings.TextValue;
import java.nio.charset.Charset;
import java.nio.file.InvalidPathException;
import java.time.Duration;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** How a single value of some Java type is read, written and described. */
interface ScalarType {

  /**
   * Reads a value.
   *
   * @throws ConfigException with an empty key if it is not of this type
   */
  Object read(Node node);

  /** Returns a value as plain text, number or boolean, such that reading it gives it back. */
  default Object write(Object value) {
    return value;
  }

  /** Returns the JSON Schema of this type. */
  Map<String, Object> schema();

  static ScalarType of(Class<?> type) {
    if (isText(type)) {
      return new ChosenWord(type);
    }
    if (type.isEnum()) {
      return EnumWord.of(type);
    }
    return switch (type.getName()) {
      case "int", "java.lang.Integer" -> new Whole(Integer.MIN_VALUE, Integer.MAX_VALUE);
      case "long", "java.lang.Long" -> new Whole(Long.MIN_VALUE, Long.MAX_VALUE);
      case "double", "java.lang.Double" -> new Real();
      case "boolean", "java.lang.Boolean" -> new Truth();
      case "java.lang.String" -> new Words();
      case "java.nio.file.Path" -> new FilePath();
      case "java.time.Duration" -> new Time();
      default -> throw new IllegalStateException("a setting cannot be a " + type);
    };
  }

  /** Tells whether a type reads itself from text. */
  static boolean isText(Class<?> type) {
    return TextValue.class.isAssignableFrom(type);
  }

  /** Returns what stands for a missing value of a type in a constructor call. */
  static @Nullable Object zero(Class<?> type) {
    return switch (type.getName()) {
      case "int" -> 0;
      case "long" -> 0L;
      case "double" -> 0.0;
      case "boolean" -> false;
      default -> null;
    };
  }

  /** Returns the text of a plain scalar that the test accepts. */
  private static String plain(Node node, Predicate<String> test, String expected) {
    if (node instanceof Node.Scalar scalar && scalar.plain() && test.test(scalar.text())) {
      return scalar.text();
    }
    throw mismatch(node, expected);
  }

  /** Returns the text of any scalar that is not null. */
  static String text(Node node, String expected) {
    if (node instanceof Node.Scalar scalar && !node.isNull()) {
      return scalar.text();
    }
    throw mismatch(node, expected);
  }

  static ConfigException mismatch(Node node, String expected) {
    return new ConfigException("", "must be " + expected + ", but was " + node.shown());
  }

  /** A whole number in decimal notation. */
  record Whole(long least, long most) implements ScalarType {

    private static final Pattern FORM = Pattern.compile("[-+]?[0-9]+");

    @Override
    public Object read(Node node) {
      String text = plain(node, FORM.asMatchPredicate(), "a whole number");
      try {
        long value = Long.parseLong(text);
        if (value >= least && value <= most) {
          return most == Integer.MAX_VALUE ? (Object) (int) value : (Object) value;
        }
      } catch (NumberFormatException tooLong) {
        // Falls through: out of range like any other.
      }
      // What its key allows is less; where the type's range begins would only mislead.
      throw mismatch(node, text.startsWith("-") ? "a larger whole number" : "at most " + most);
    }

    @Override
    public Map<String, Object> schema() {
      return JsonText.object("type", "integer");
    }
  }

  /** A finite number. */
  record Real() implements ScalarType {

    private static final Pattern FORM =
        Pattern.compile("[-+]?(\\.[0-9]+|[0-9]+(\\.[0-9]*)?)([eE][-+]?[0-9]+)?");

    @Override
    public Object read(Node node) {
      double value = Double.parseDouble(plain(node, FORM.asMatchPredicate(), "a finite number"));
      if (Double.isInfinite(value)) {
        throw mismatch(node, "a finite number");
      }
      return value;
    }

    @Override
    public Map<String, Object> schema() {
      return JsonText.object("type", "number");
    }
  }

  /** True or false, in the spelling of YAML 1.2. */
  record Truth() implements ScalarType {

    private static final Pattern FORM = Pattern.compile("true|True|TRUE|false|False|FALSE");

    @Override
    public Object read(Node node) {
      return Boolean.valueOf(plain(node, FORM.asMatchPredicate(), "true or false"));
    }

    @Override
    public Map<String, Object> schema() {
      return JsonText.object("type", "boolean");
    }
  }

  /** Any text. */
  record Words() implements ScalarType {

    @Override
    public Object read(Node node) {
      return text(node, "a text");
    }

    @Override
    public Map<String, Object> schema() {
      return JsonText.object("type", "string");
    }
  }

  /** A file or folder. */
  record FilePath() implements ScalarType {

    @Override
    public Object read(Node node) {
      String text = text(node, "a path");
      try {
        if (!text.isBlank()) {
          return HomePath.of(text);
        }
      } catch (InvalidPathException notAPath) {
        if (!Charset.forName(System.getProperty("sun.jnu.encoding")).newEncoder().canEncode(text)) {
          throw mismatch(node, "a path that the locale can express (set LC_ALL=C.UTF-8)");
        }
        // Falls through: the reason would name the platform's rules, not the recipe's.
      }
      throw mismatch(node, "a path");
    }

    @Override
    public Object write(Object value) {
      return value.toString();
    }

    @Override
    public Map<String, Object> schema() {
      return JsonText.object("type", "string");
    }
  }

  /** A length of time, in seconds or with a unit. */
  record Time() implements ScalarType {

    @Override
    public Object read(Node node) {
      return TimeText.parse(text(node, TimeText.EXPECTED))
          .orElseThrow(() -> mismatch(node, TimeText.EXPECTED));
    }

    @Override
    public Object write(Object value) {
      return TimeText.of((Duration) value);
    }

    @Override
    public Map<String, Object> schema() {
      return TimeText.schema();
    }
  }
}
