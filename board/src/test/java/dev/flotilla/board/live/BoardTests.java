package dev.flotilla.board.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where a board may be opened, and what is said where it may not. */
class BoardTests {

  @TempDir Path folder;

  private void refused(Path shown, String host, int port, String message) {
    assertThatThrownBy(() -> Board.open(new BoardSettings(shown, host, port), _ -> {}).close())
        .isInstanceOf(BoardException.class)
        .hasMessageContaining(message);
  }

  @Test
  void mistakesAreOneMessage() throws IOException {
    TestBoard.useShortLimits();
    refused(folder.resolve("absent"), "127.0.0.1", 0, "there is no folder ");
    var file = Files.writeString(folder.resolve("file"), "");
    refused(file, "127.0.0.1", 0, "is not a folder");
    refused(folder, "127.0.0.1", -1, "--port: must be from 0 (any that is free) to 65535");
    refused(folder, "127.0.0.1", 65_536, "but was 65536");
    refused(folder, "192.0.2.1", 0, "--host: '192.0.2.1' is no address of this host");
    refused(folder, "256.256.256.256", 0, "--host: there is no host '256.256.256.256'");
    refused(folder, " ", 0, "--host: is empty");
    try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      refused(folder, "127.0.0.1", taken.getLocalPort(), "is in use");
    }
  }

  /** An address beyond loopback is taken only where it is asked for, and needs the token too. */
  @Test
  void listensOnLoopbackUnlessToldOtherwise() throws IOException {
    try (var board = new TestBoard(folder)) {
      assertThat(board.board.isOpenToOthers()).isFalse();
      assertThat(board.board.link()).matches("http://127\\.0\\.0\\.1:\\d+/#t=[\\w-]{22}");
    }
    try (var open = Board.open(new BoardSettings(folder, "0.0.0.0", 0), _ -> {})) {
      assertThat(open.isOpenToOthers()).isTrue();
      var http = new RawHttp(open.port());
      assertThat(http.ask("GET /board.js HTTP/1.1\r\nHost: 127.0.0.1").status()).isEqualTo(403);
      assertThat(http.ask("GET / HTTP/1.1\r\nHost: evil.example").status()).isEqualTo(403);
      assertThat(http.ask("GET / HTTP/1.1\r\nHost: 127.0.0.1").status()).isEqualTo(200);
    }
  }
}
