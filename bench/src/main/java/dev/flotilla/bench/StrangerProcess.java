package dev.flotilla.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A {@link StrangerAttack} in a network of its own, on the last processor, and a {@link
 * StrangerDecoy} there that he may turn to instead.
 */
final class StrangerProcess {

  private final Process process;
  private final Process decoy;
  private final BufferedReader answers;

  StrangerProcess(StrangerNetwork network) throws IOException {
    process = start(network.stranger(), StrangerAttack.class);
    decoy = start(network.elsewhere(), StrangerDecoy.class);
    answers = process.inputReader(StandardCharsets.UTF_8);
  }

  private static Process start(String network, Class<?> main) throws IOException {
    return new ProcessBuilder(command(network, true, "-Xmx256m", main.getName()))
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  /** Returns how long processors have worked for the stranger, and for whom he turns to instead. */
  double seconds() {
    return ProcessorTime.seconds(process.toHandle()) + ProcessorTime.seconds(decoy.toHandle());
  }

  /** Returns a Java command for a network, on the last processor or on all others. */
  static List<String> command(String network, boolean isLast, String... words) {
    int last = Runtime.getRuntime().availableProcessors() - 1;
    String processors = isLast ? "" + last : "0-" + (last - 1);
    var command = new ArrayList<>(List.of("ip", "netns", "exec", network));
    command.addAll(List.of("taskset", "-c", processors));
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(words));
    return command;
  }

  /** Gives an order; returns how much was done a second, and how much of it answered. */
  String ask(String order) throws IOException {
    var out = process.outputWriter(StandardCharsets.UTF_8);
    out.write(order + "\n");
    out.flush();
    var answer = answers.readLine();
    if (answer == null) {
      throw new IOException("the stranger has ended");
    }
    return answer;
  }

  void end() {
    process.destroyForcibly();
    decoy.destroyForcibly();
  }
}
