package dev.flotilla.testkit.glue;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * The list of natives that the glue shall hold.
 *
 * <p>A line is a class, {@code Tensor}, or one of its methods, {@code torch.relu}; an asterisk
 * stands for any letters, {@code [A-Z]} for one capital. A line that begins with {@code -} takes
 * out again what it matches, {@code -(Name)} whatever has a type of that name in its signature. The
 * last line that matches decides.
 */
public final class WantedNatives {

  private record Line(Pattern pattern, boolean isBySignature, boolean isWanted) {

    static Line parse(String text) {
      boolean isWanted = !text.startsWith("-");
      var rest = isWanted ? text : text.substring(1).strip();
      boolean isBySignature = rest.startsWith("(") && rest.endsWith(")");
      if (isBySignature) {
        var type = rest.substring(1, rest.length() - 1);
        return new Line(pattern("*/" + type + ";*"), true, isWanted);
      }
      return new Line(pattern(rest.contains(".") ? rest : rest + ".*"), false, isWanted);
    }

    private static Pattern pattern(String text) {
      return Pattern.compile(text.replace(".", "\\.").replace("$", "\\$").replace("*", ".*"));
    }

    boolean matches(NativeMethod method) {
      return pattern
          .matcher(isBySignature ? method.descriptor() : method.shortOwner() + "." + method.name())
          .matches();
    }
  }

  private final List<Line> lines = new ArrayList<>();

  /** Reads a list; what stands behind {@code #} is a comment. */
  public WantedNatives(List<String> text) {
    text.stream()
        .map(line -> line.replaceFirst("#.*", "").strip())
        .filter(line -> !line.isEmpty())
        .map(Line::parse)
        .forEach(lines::add);
  }

  /** Tells whether a native is wanted. */
  public boolean contains(NativeMethod method) {
    boolean isWanted = false;
    for (var line : lines) {
      if (line.isWanted() != isWanted && line.matches(method)) {
        isWanted = line.isWanted();
      }
    }
    return isWanted;
  }

  /** Returns the wanted natives of a binding. */
  public SortedSet<NativeMethod> of(Binding binding) {
    var wanted = new TreeSet<NativeMethod>();
    binding.natives().stream().filter(this::contains).forEach(wanted::add);
    return wanted;
  }
}
