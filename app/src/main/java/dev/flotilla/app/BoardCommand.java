package dev.flotilla.app;

import dev.flotilla.board.live.Board;
import dev.flotilla.board.live.BoardSettings;
import dev.flotilla.world.ExitCodes;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows runs in a browser until it is interrupted. */
@Command(
    name = "board",
    description = {
      "Shows the runs below a folder in a browser, live: those that go on and those that have"
          + " ended.",
      "Reads their files and writes none. Ctrl-C ends it."
    },
    footer = {"", "Example:", "  flotilla board runs --port 7007"},
    mixinStandardHelpOptions = true)
final class BoardCommand implements Callable<Integer> {

  @Parameters(
      arity = "0..1",
      paramLabel = "DIR",
      description = "Folder that holds runs, or one run's own; runs unless given.")
  Path folder = Path.of("runs");

  @Option(
      names = "--port",
      paramLabel = "N",
      description = "Port to listen on, 0 for any that is free; ${DEFAULT-VALUE} unless given.")
  int port = BoardSettings.PORT;

  @Option(
      names = "--host",
      paramLabel = "ADDRESS",
      description =
          "Address of this host to listen on. Loopback unless given: then no other host can"
              + " connect.")
  String host = BoardSettings.LOOPBACK;

  @Override
  public Integer call() {
    try (var board = Board.open(new BoardSettings(folder, host, port), BoardCommand::sayNext)) {
      System.out.println(greeting(folder, board));
      new CountDownLatch(1).await(); // until the process is ended
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
    return ExitCodes.OK;
  }

  static String greeting(Path folder, Board board) {
    var tunnel = "ssh -L %1$d:127.0.0.1:%1$d THIS-HOST".formatted(board.port());
    var warning =
        """
        flotilla: warning: other hosts can connect to port %d, and nothing is encrypted: whoever listens on the network
        sees what you see. It is safer to leave --host out, and to run on your own machine:
          %s
        """
            .formatted(board.port(), tunnel);
    return """
    %sRuns in %s. This link opens once:
      %s
    %sCtrl-C ends the board; runs go on.\
    """
        .formatted(
            board.isOpenToOthers() ? warning : "",
            folder,
            board.link(),
            board.isOpenToOthers()
                ? ""
                : "From another machine, first run there: " + tunnel + "\n");
  }

  /** A link is void once it was opened; this one is for another browser. */
  private static void sayNext(String link) {
    System.out.printf("Opened. For another browser:%n  %s%n", link);
  }
}
