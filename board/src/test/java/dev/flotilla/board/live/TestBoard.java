package dev.flotilla.board.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A board on a free port, with what its terminal would show. */
final class TestBoard implements AutoCloseable {

  final List<String> links = new CopyOnWriteArrayList<>();
  final Board board;
  final RawHttp http;

  TestBoard(Path folder) {
    useShortLimits();
    board = Board.open(new BoardSettings(folder, BoardSettings.LOOPBACK, 0), links::add);
    http = new RawHttp(board.port());
  }

  /** Read once by the first server of a JVM: seconds, so that tests need not wait for long. */
  static void useShortLimits() {
    System.setProperty("sun.net.httpserver.maxReqTime", "2");
    System.setProperty("sun.net.httpserver.idleInterval", "2");
    System.setProperty("sun.net.httpserver.clockTick", "200");
    HttpLimits.apply();
  }

  String host() {
    return "Host: 127.0.0.1:" + board.port();
  }

  String origin() {
    return "Origin: http://127.0.0.1:" + board.port();
  }

  String token() {
    var link = board.link();
    return link.substring(link.indexOf("#t=") + 3);
  }

  RawHttp.Reply offer(String token, String... headers) throws IOException {
    return http.send(
        "POST /api/session HTTP/1.1\r\n%s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s"
            .formatted(String.join("\r\n", headers), token.length(), token));
  }

  /** Opens the link, and returns the header that a browser would send from then on. */
  String enter() throws IOException {
    var reply = offer(token(), host(), origin());
    assertThat(reply.status()).isEqualTo(204);
    var cookie = reply.header("Set-Cookie");
    assertThat(cookie).matches("flotilla_board_\\d+=[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict");
    return "Cookie: " + cookie.substring(0, cookie.indexOf(';'));
  }

  RawHttp.Reply get(String path, String... headers) throws IOException {
    return http.ask("GET " + path + " HTTP/1.1\r\n" + host(), headers);
  }

  /** Opens a stream of events, and leaves it to the caller to read it. */
  Socket stream(String query, String cookie, String... headers) throws IOException {
    var socket = http.connect();
    var more = headers.length == 0 ? "" : String.join("\r\n", headers) + "\r\n";
    socket
        .getOutputStream()
        .write(
            "GET /api/events%s HTTP/1.1\r\n%s\r\n%s\r\n%s\r\n"
                .formatted(query, host(), cookie, more)
                .getBytes(StandardCharsets.UTF_8));
    return socket;
  }

  @Override
  public void close() {
    board.close();
  }
}
