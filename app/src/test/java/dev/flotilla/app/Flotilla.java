package dev.flotilla.app;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * The real command line in a process of its own, with this process's JDK.
 *
 * <p>Under the folder it is given, it works in {@code work} and has {@code tmp} for temporary
 * files, so that a test sees whatever is left behind.
 */
final class Flotilla {

  /** Of the environment of the tests, only these reach the command line. */
  private static final Set<String> INHERITED =
      Set.of("PATH", "HOME", "XDG_CACHE_HOME", "LD_LIBRARY_PATH", "LANG", "LC_ALL");

  private final Path folder;
  private final Map<String, String> variables;
  private final List<String> jvmOptions;
  private final List<String> prefix;

  private Flotilla(
      Path folder, Map<String, String> variables, List<String> jvmOptions, List<String> prefix) {
    this.folder = folder;
    this.variables = variables;
    this.jvmOptions = jvmOptions;
    this.prefix = prefix;
  }

  static Flotilla in(Path folder) {
    return new Flotilla(folder, Map.of(), List.of(), List.of());
  }

  /** Returns this command line behind the words of another command that runs it. */
  Flotilla through(String... words) {
    return new Flotilla(folder, variables, jvmOptions, List.of(words));
  }

  /** Returns this command line with one more environment variable. */
  Flotilla with(String name, Object value) {
    var more = new HashMap<>(variables);
    more.put(name, value.toString());
    return new Flotilla(folder, more, jvmOptions, prefix);
  }

  /** Returns this command line with one more option of its own JVM. */
  Flotilla withJvmOption(String option) {
    var more = new ArrayList<>(jvmOptions);
    more.add(option);
    return new Flotilla(folder, variables, more, prefix);
  }

  /** Returns this command line with a file in the folder in which it works. */
  Flotilla having(String file, String text) throws IOException {
    Files.createDirectories(work());
    Files.writeString(work().resolve(file), text);
    return this;
  }

  /** Returns the folder in which the command works. */
  Path work() {
    return folder.resolve("work");
  }

  /** Returns what lies in the working folder and in that for temporary files. */
  List<String> files() {
    return Stream.of("work", "tmp").flatMap(name -> below(folder.resolve(name))).toList();
  }

  private Stream<String> below(Path top) {
    if (!Files.exists(top)) {
      return Stream.empty();
    }
    try (var paths = Files.walk(top)) {
      return paths.filter(path -> !path.equals(top)).map(this::relative).sorted().toList().stream();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String relative(Path path) {
    return folder.relativize(path).toString();
  }

  /** Runs a command to its end. */
  Ended run(String... arguments) {
    return run(Running.PATIENCE, arguments);
  }

  /** Runs a command that may take this long. */
  Ended run(Duration limit, String... arguments) {
    try (var running = start(arguments)) {
      return running.await(limit);
    }
  }

  /** Starts a command. */
  Running start(String... arguments) {
    var mark = UUID.randomUUID().toString();
    var streams = folder.resolve("streams").resolve(mark);
    try {
      Files.createDirectories(streams);
      Files.createDirectories(work());
      Files.createDirectories(folder.resolve("tmp"));
      return new Running(builder(mark, streams, arguments).start(), streams, mark);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private ProcessBuilder builder(String mark, Path streams, String... arguments) {
    var builder =
        new ProcessBuilder(command(arguments))
            .directory(work().toFile())
            .redirectOutput(streams.resolve("out").toFile())
            .redirectError(streams.resolve("err").toFile())
            .redirectInput(new File("/dev/null"));
    builder.environment().keySet().retainAll(INHERITED);
    builder.environment().put("OMP_WAIT_POLICY", "passive");
    builder.environment().putAll(options());
    builder.environment().put(Running.MARK, mark);
    builder.environment().putAll(variables);
    return builder;
  }

  private List<String> command(String... arguments) {
    var command = new ArrayList<>(prefix);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(JvmOptions.ofRanks(options()));
    command.add("-Djava.io.tmpdir=" + folder.resolve("tmp"));
    command.addAll(jvmOptions);
    command.addAll(List.of("-cp", PackedJars.classPath(), Main.class.getName()));
    command.addAll(List.of(arguments));
    return command;
  }

  private static Map<String, String> options() {
    return Map.of(
        JvmOptions.VARIABLE,
        PackedJars.QUICK_TO_START,
        JvmOptions.CACHE_VARIABLE,
        PackedJars.startUpCache());
  }
}
