package dev.flotilla.board.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Requests that are too large, too slow or too many. */
class LimitTests {

  @TempDir Path folder;
  private TestBoard board;

  @BeforeEach
  void openBoard() {
    board = new TestBoard(folder);
  }

  @AfterEach
  void closeBoard() {
    board.close();
  }

  @Test
  void aLargeBodyIsRefusedBeforeItIsRead() throws IOException {
    try (var socket = board.http.connect()) {
      var head = "POST /api/session HTTP/1.1\r\n%s\r\n%s\r\nContent-Length: 52428800\r\n\r\n";
      var out = socket.getOutputStream();
      out.write(head.formatted(board.host(), board.origin()).getBytes(StandardCharsets.UTF_8));
      long sent = 0;
      try {
        for (var megabyte = new byte[1 << 20]; sent < 50 << 20; sent += megabyte.length) {
          out.write(megabyte);
        }
      } catch (SocketException closed) {
        // as it should be
      }
      assertThat(sent).as("bytes that fit into buffers of the kernel").isLessThan(20 << 20);
    }
    assertThat(post("Content-Length: 65", "x".repeat(65)).status()).isEqualTo(413);
    assertThat(post("Transfer-Encoding: chunked", "0\r\n\r\n").status()).isEqualTo(413);
    assertThat(post("Content-Length: 22", "x".repeat(22)).status()).isEqualTo(403);
  }

  private RawHttp.Reply post(String header, String body) throws IOException {
    var head = List.of("POST /api/session HTTP/1.1", board.host(), board.origin(), header);
    return board.http.send(String.join("\r\n", head) + "\r\nConnection: close\r\n\r\n" + body);
  }

  @Test
  void longHeadersAreRefused() throws IOException {
    assertThat(board.get("/", "X: " + "y".repeat(20_000)).status()).isNotEqualTo(200);
    assertThat(board.get("/" + "y".repeat(20_000)).status()).isNotEqualTo(200);
    var many = new String[100];
    for (int i = 0; i < many.length; i++) {
      many[i] = "X%d: y".formatted(i);
    }
    assertThat(board.get("/", many).status()).isNotEqualTo(200);
    assertThat(board.get("/").status()).isEqualTo(200);
  }

  /** Silent connections and those that send a byte now and then are closed, and keep nobody out. */
  @Test
  void slowRequestsAreClosed() throws IOException, InterruptedException {
    List<Socket> slow = new ArrayList<>();
    try {
      for (int i = 0; i < 100; i++) {
        var socket = board.http.connect();
        if (i % 2 == 0) {
          socket.getOutputStream().write('G');
        }
        slow.add(socket);
      }
      assertThat(board.get("/").status()).isEqualTo(200);
      for (int i = 0; i < 4; i++) {
        Thread.sleep(500);
        for (int s = 0; s < 100; s += 2) {
          drip(slow.get(s));
        }
      }
      for (var socket : slow) {
        RawHttp.readAll(socket); // fails if the server does not close it
      }
    } finally {
      for (var socket : slow) {
        socket.close();
      }
    }
  }

  private static void drip(Socket socket) {
    try {
      socket.getOutputStream().write('E');
    } catch (IOException closed) {
      // as it should be
    }
  }

  @Test
  void aThousandRequestsAreAnswered() throws IOException {
    try (var socket = board.http.connect()) {
      var request = "HEAD /enter.js HTTP/1.1\r\n%s\r\n\r\n".formatted(board.host());
      var in =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
      for (int i = 0; i < 1000; i++) {
        socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
        assertThat(in.readLine()).isEqualTo("HTTP/1.1 200 OK");
        assertThat(in.lines().anyMatch(String::isEmpty)).as("the end of the headers").isTrue();
      }
    }
  }
}
