package dev.flotilla.board.live;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** What a request is answered with. */
final class Answer {

  static final String TEXT = "text/plain; charset=utf-8";
  static final String JSON = "application/json; charset=utf-8";

  /** Nothing from elsewhere, nothing inline, in no frame, kept by nobody, told to nobody. */
  private static final Map<String, String> ALWAYS =
      Map.of(
          "Content-Security-Policy",
          "default-src 'self'; base-uri 'none'; form-action 'none'; object-src 'none';"
              + " frame-ancestors 'none'",
          "X-Content-Type-Options",
          "nosniff",
          "X-Frame-Options",
          "DENY",
          "Cache-Control",
          "no-store",
          "Referrer-Policy",
          "no-referrer",
          "Cross-Origin-Opener-Policy",
          "same-origin",
          "Cross-Origin-Resource-Policy",
          "same-origin");

  /**
   * The JDK's server copies what it is given at once into a buffer of twice the size that it keeps
   * as long as the connection.
   */
  static final int SLICE = 8192;

  private final int status;
  private final String type;
  private final byte[] body;
  private final Map<String, String> headers;

  Answer(int status, String type, byte[] body, Map<String, String> headers) {
    this.status = status;
    this.type = type;
    this.body = body;
    this.headers = Map.copyOf(headers);
  }

  static Answer of(String type, byte[] body) {
    return new Answer(200, type, body, Map.of());
  }

  static Answer refusal(int status, String why) {
    return new Answer(
        status, TEXT, (why + "\n").getBytes(StandardCharsets.UTF_8), Map.of("Connection", "close"));
  }

  static void addStandardHeaders(HttpExchange exchange) {
    var sent = exchange.getResponseHeaders();
    ALWAYS.forEach(sent::set);
  }

  void send(HttpExchange exchange) throws IOException {
    addStandardHeaders(exchange);
    var sent = exchange.getResponseHeaders();
    sent.set("Content-Type", type);
    headers.forEach(sent::set);
    boolean isHead = exchange.getRequestMethod().equals("HEAD");
    if (isHead) {
      sent.set("Content-Length", String.valueOf(body.length));
    }
    exchange.sendResponseHeaders(status, isHead || body.length == 0 ? -1 : body.length);
    if (!isHead && body.length > 0) {
      write(exchange, body);
    }
    exchange.close();
  }

  static void write(HttpExchange exchange, byte[] bytes) throws IOException {
    for (int from = 0; from < bytes.length; from += SLICE) {
      writeSlice(exchange, bytes, from);
    }
    exchange.getResponseBody().flush();
  }

  static void writeSlice(HttpExchange exchange, byte[] bytes, int from) throws IOException {
    exchange.getResponseBody().write(bytes, from, Math.min(SLICE, bytes.length - from));
  }
}
