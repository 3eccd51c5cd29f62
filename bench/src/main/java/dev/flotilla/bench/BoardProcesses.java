package dev.flotilla.bench;

import dev.flotilla.board.live.Board;
import dev.flotilla.board.live.BoardSettings;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A board and its attackers, each in a process of its own with the lowest priority. */
final class BoardProcesses implements AutoCloseable {

  private final Child board;
  private final Child attackers;

  private BoardProcesses(Child board, Child attackers) {
    this.board = board;
    this.attackers = attackers;
  }

  static BoardProcesses start(Path folder) throws IOException {
    var board = new Child("board", folder.toString());
    return new BoardProcesses(board, new Child("attack", board.answer()));
  }

  /** Begins or ends the load. */
  void load(boolean isWanted) throws IOException {
    attackers.ask(isWanted ? "on" : "off");
  }

  /** Returns the bytes of the board's heap that are in use. */
  long heap() throws IOException {
    return Long.parseLong(board.ask("heap"));
  }

  double requestsPerSecond() throws IOException {
    return Double.parseDouble(attackers.ask("rate"));
  }

  /** Returns what the attackers have done so far. */
  String report() throws IOException {
    return attackers.ask("report");
  }

  @Override
  public void close() {
    attackers.end();
    board.end();
  }

  /** Runs one of the two processes. */
  public static void main(String[] args) throws IOException {
    var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    if (args[0].equals("attack")) {
      try (var attack = new BoardAttack(args[1])) {
        for (var line = lines.readLine(); line != null; line = lines.readLine()) {
          System.out.println(attack.obey(line));
        }
      }
      return;
    }
    try (var board =
        Board.open(new BoardSettings(Path.of(args[1]), BoardSettings.LOOPBACK, 0), _ -> {})) {
      System.out.println(board.link());
      while (lines.readLine() != null) {
        System.gc();
        var runtime = Runtime.getRuntime();
        System.out.println(runtime.totalMemory() - runtime.freeMemory());
      }
    }
  }

  /** A process that answers each line with a line. */
  private static final class Child {

    private final Process process;
    private final BufferedReader answers;

    Child(String... arguments) throws IOException {
      List<String> command =
          new ArrayList<>(
              List.of(
                  "nice",
                  "-n",
                  "19",
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-XX:+UseSerialGC",
                  "-Xmx384m",
                  "-cp",
                  System.getProperty("java.class.path"),
                  BoardProcesses.class.getName()));
      command.addAll(List.of(arguments));
      process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      answers = process.inputReader(StandardCharsets.UTF_8);
    }

    String ask(String line) throws IOException {
      var out = process.outputWriter(StandardCharsets.UTF_8);
      out.write(line + "\n");
      out.flush();
      return answer();
    }

    String answer() throws IOException {
      var answer = answers.readLine();
      if (answer == null) {
        throw new IOException("a process of the board has ended");
      }
      return answer;
    }

    void end() {
      process.destroy();
    }
  }
}
