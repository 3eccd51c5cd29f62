package dev.flotilla.board.live;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;

/** Says to a port what no HTTP client would say. */
record RawHttp(int port) {

  private static final int PATIENCE_MS = 10_000;

  /**
   * What came back.
   *
   * @param text all of it, with headers
   */
  record Reply(String text) {

    /** The status, or 0 if the connection was closed without one. */
    int status() {
      return text.startsWith("HTTP/1.1 ") ? Integer.parseInt(text.substring(9, 12)) : 0;
    }

    String header(String name) {
      return text.lines()
          .takeWhile(line -> !line.isEmpty())
          .filter(line -> line.regionMatches(true, 0, name + ": ", 0, name.length() + 2))
          .map(line -> line.substring(name.length() + 2))
          .findFirst()
          .orElse("");
    }

    String body() {
      int at = text.indexOf("\r\n\r\n");
      return at < 0 ? "" : text.substring(at + 4);
    }
  }

  Socket connect() throws IOException {
    var socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setSoTimeout(PATIENCE_MS);
    return socket;
  }

  /** Sends a request line and headers, and reads until the server closes. */
  Reply ask(String line, String... headers) throws IOException {
    return send(line + "\r\n" + String.join("\r\n", headers) + "\r\nConnection: close\r\n\r\n");
  }

  /** Sends each char as one byte, so that any byte can be sent. */
  Reply send(String request) throws IOException {
    try (var socket = connect()) {
      try {
        socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
        socket.getOutputStream().flush();
      } catch (SocketException closed) {
        // refused before all was sent
      }
      return new Reply(readAll(socket));
    }
  }

  static String readAll(Socket socket) throws IOException {
    var all = new ByteArrayOutputStream();
    var buffer = new byte[8192];
    long end = System.nanoTime() + 2_000_000L * PATIENCE_MS;
    try {
      for (int n = 0; n >= 0; n = socket.getInputStream().read(buffer)) {
        all.write(buffer, 0, n);
        if (System.nanoTime() > end) {
          throw new AssertionError("the server goes on and on: " + all);
        }
      }
    } catch (SocketTimeoutException stuck) {
      throw new AssertionError("the server neither answers nor closes: " + all, stuck);
    } catch (SocketException reset) {
      // closed with something unread: what came before it counts
    }
    return all.toString(StandardCharsets.UTF_8);
  }
}
