package dev.flotilla.launch;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The program that every rank of this host runs.
 *
 * @param java the java executable
 * @param jvmOptions options of the JVM
 * @param classPath class path, which must hold this module as well
 * @param mainClass class with a {@code public static void main(String[])}
 * @param arguments arguments of the program
 * @param argumentsOnRestart its arguments when all ranks are started again after a failure, in
 *     place of the others
 */
public record RankCommand(
    Path java,
    List<String> jvmOptions,
    String classPath,
    String mainClass,
    List<String> arguments,
    List<String> argumentsOnRestart) {

  private static final String NATIVE_ACCESS = "--enable-native-access";

  /** Copies the lists. */
  public RankCommand {
    jvmOptions = List.copyOf(jvmOptions);
    arguments = List.copyOf(arguments);
    argumentsOnRestart = List.copyOf(argumentsOnRestart);
  }

  /** Creates the command of a program that a restart tells nothing else. */
  public RankCommand(
      Path java,
      List<String> jvmOptions,
      String classPath,
      String mainClass,
      List<String> arguments) {
    this(java, jvmOptions, classPath, mainClass, arguments, arguments);
  }

  /** Returns the java executable of the JVM that runs this code. */
  public static Path currentJava() {
    return Path.of(System.getProperty("java.home"), "bin", "java");
  }

  /** Returns the whole command line, with the bootstrap class before the program's own. */
  List<String> commandLine(boolean isRestart) {
    var line = new ArrayList<String>();
    line.add(java.toString());
    line.addAll(jvmOptions);
    if (jvmOptions.stream().noneMatch(option -> option.startsWith(NATIVE_ACCESS))) {
      line.add(NATIVE_ACCESS + "=ALL-UNNAMED");
    }
    line.add("-cp");
    line.add(classPath);
    line.add(RankMain.class.getName());
    line.add(mainClass);
    line.addAll(isRestart ? argumentsOnRestart : arguments);
    return line;
  }
}
