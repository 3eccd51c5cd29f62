package dev.flotilla.world;

import java.util.ArrayList;
import java.util.List;

/** Where this JVM finds its classes, for another one that is to run one of them. */
public final class ProgramPath {

  private ProgramPath() {}

  /** Returns the last words of a {@code java} command, to which arguments may be added. */
  public static List<String> to(Class<?> program) {
    return to(
        program,
        System.getProperty("java.class.path", ""),
        System.getProperty("jdk.module.path", ""));
  }

  static List<String> to(Class<?> program, String classPath, String modulePath) {
    List<String> words = new ArrayList<>();
    if (!classPath.isEmpty()) {
      words.addAll(List.of("-cp", classPath));
    }
    if (!program.getModule().isNamed()) {
      words.add(program.getName());
      return words;
    }
    // Libraries of a platform are required by nobody, and found by name.
    words.addAll(List.of("-p", modulePath, "--add-modules", "ALL-MODULE-PATH"));
    words.addAll(List.of("-m", program.getModule().getName() + "/" + program.getName()));
    return words;
  }
}
