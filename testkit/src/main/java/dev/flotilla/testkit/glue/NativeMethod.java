package dev.flotilla.testkit.glue;

import java.util.List;

/**
 * A native method of the binding.
 *
 * @param owner internal name of its class, with slashes
 * @param name name of the method
 * @param descriptor types of its parameters and of its result, as a class file writes them
 */
public record NativeMethod(String owner, String name, String descriptor)
    implements Comparable<NativeMethod> {

  static final String PACKAGE = "org/bytedeco/pytorch/";

  /** Returns the class as people write it in lists: without the binding's own package. */
  String shortOwner() {
    return owner.replace(PACKAGE + "global/", "").replace(PACKAGE, "").replace('/', '.');
  }

  /** Returns the name of its class as {@code Class.forName} takes it. */
  String className() {
    return owner.replace('/', '.');
  }

  /** Returns the names that its C function may have: plain, or with its types if overloaded. */
  public List<String> symbols() {
    var plain = "Java_" + mangled(owner) + "_" + mangled(name);
    var parameters = descriptor.substring(1, descriptor.indexOf(')'));
    return List.of(plain, plain + "__" + mangled(parameters));
  }

  /** As the Java Native Interface says: letters and digits stay, the rest is escaped. */
  private static String mangled(String text) {
    var mangled = new StringBuilder();
    text.chars()
        .forEach(
            c -> {
              switch (c) {
                case '/' -> mangled.append('_');
                case '_' -> mangled.append("_1");
                case ';' -> mangled.append("_2");
                case '[' -> mangled.append("_3");
                default -> {
                  if (c < 128 && Character.isLetterOrDigit(c)) {
                    mangled.append((char) c);
                  } else {
                    mangled.append("_0%04x".formatted(c));
                  }
                }
              }
            });
    return mangled.toString();
  }

  @Override
  public int compareTo(NativeMethod other) {
    return toString().compareTo(other.toString());
  }

  @Override
  public String toString() {
    return shortOwner() + "." + name + descriptor;
  }
}
