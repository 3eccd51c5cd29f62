package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.board.live.Board;
import dev.flotilla.board.live.BoardSettings;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** What the command says before it serves, or instead. */
@Isolated
class BoardCommandTests {

  private static final int USAGE = 2;

  @TempDir Path folder;

  private static void refused(String message, String... arguments) {
    var bytes = new ByteArrayOutputStream();
    var before = System.err;
    System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    try {
      assertThat(Main.run(arguments)).isEqualTo(USAGE);
    } finally {
      System.setErr(before);
    }
    var lines = bytes.toString(StandardCharsets.UTF_8).lines().toList();
    assertThat(lines).hasSize(1).allMatch(it -> it.startsWith("flotilla: " + message));
  }

  @Test
  void aMistakeIsOneMessage() throws IOException {
    var here = folder.toString();
    refused("there is no folder " + here + "/absent; start a run first", "board", here + "/absent");
    var file = Files.writeString(folder.resolve("file"), "").toString();
    refused(file + " is not a folder; give one that holds runs", "board", file);
    refused("--port: must be from 0 (any that is free) to 65535", "board", here, "--port", "70000");
    refused("--host: '192.0.2.1' is no address of this host", "board", here, "--host", "192.0.2.1");
    try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      var port = String.valueOf(taken.getLocalPort());
      refused("--port: port " + port + " of 127.0.0.1 is in use", "board", here, "--port", port);
    }
  }

  @Test
  void warnsWhereOtherHostsCanConnect() {
    assertThat(greeting(BoardSettings.LOOPBACK))
        .contains("http://127.0.0.1:", "/#t=", "ssh -L ")
        .doesNotContain("warning");
    assertThat(greeting("0.0.0.0"))
        .startsWith("flotilla: warning: other hosts can connect to port ")
        .contains("nothing is encrypted", "ssh -L ", "/#t=");
  }

  private String greeting(String host) {
    try (var board = Board.open(new BoardSettings(folder, host, 0), _ -> {})) {
      return BoardCommand.greeting(folder, board);
    }
  }
}
