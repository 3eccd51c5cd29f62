package dev.flotilla.board.live;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Answers requests. There are a handful of paths, compared letter by letter; all else is 404. */
final class BoardHandler implements HttpHandler {

  static final String SESSION = "/api/session";
  static final String EVENTS = "/api/events";
  private static final Duration TIME = Duration.ofSeconds(10);
  private static final int LONGEST_TOKEN = 64;

  private final Gate gate;
  private final Access access;
  private final Assets assets = new Assets();
  private final Streams streams;
  private final Deadlines deadlines;
  private final String cookieName;
  private final Runnable onEntered;

  BoardHandler(
      Gate gate,
      Access access,
      Streams streams,
      Deadlines deadlines,
      String cookieName,
      Runnable onEntered) {
    this.gate = gate;
    this.access = access;
    this.streams = streams;
    this.deadlines = deadlines;
    this.cookieName = cookieName;
    this.onEntered = onEntered;
  }

  @Override
  public void handle(HttpExchange exchange) throws IOException {
    deadlines.within(TIME);
    try {
      var refusal = gate.refusal(exchange);
      if (refusal.isPresent()) {
        refusal.get().send(exchange);
      } else if (isStream(exchange)) {
        streams.serve(exchange, Requested.ids(exchange.getRequestURI().getRawQuery()));
      } else {
        answer(exchange).send(exchange);
      }
    } finally {
      deadlines.lift();
    }
  }

  private boolean isStream(HttpExchange exchange) {
    return path(exchange).equals(EVENTS)
        && exchange.getRequestMethod().equals("GET")
        && mayRead(exchange);
  }

  private Answer answer(HttpExchange exchange) throws IOException {
    var path = path(exchange);
    boolean isPost = exchange.getRequestMethod().equals("POST");
    if (path.equals(SESSION)) {
      return isPost ? exchangeToken(exchange) : status(exchange);
    }
    if (isPost) {
      return Gate.notAllowed("GET, HEAD");
    }
    if (path.equals(EVENTS)) {
      return mayRead(exchange) ? Gate.notAllowed("GET") : closed();
    }
    var asset = assets.find(path, isKnown(exchange));
    return asset.orElseGet(() -> assets.has(path) ? closed() : Answer.refusal(404, "not here"));
  }

  private static Answer closed() {
    return Answer.refusal(403, "open the link that flotilla board has printed");
  }

  private static String path(HttpExchange exchange) {
    return String.valueOf(exchange.getRequestURI().getRawPath());
  }

  private Answer status(HttpExchange exchange) {
    return mayRead(exchange) ? new Answer(204, Answer.TEXT, new byte[0], Map.of()) : closed();
  }

  private Answer exchangeToken(HttpExchange exchange) throws IOException {
    var length = exchange.getRequestHeaders().getFirst("Content-Length");
    if (length == null || !length.matches("\\d\\d?") || Integer.parseInt(length) > LONGEST_TOKEN) {
      return Answer.refusal(413, "a token is shorter than that");
    }
    var token =
        new String(exchange.getRequestBody().readNBytes(LONGEST_TOKEN), StandardCharsets.UTF_8);
    Optional<String> cookie = access.exchange(token);
    if (cookie.isEmpty()) {
      return closed();
    }
    onEntered.run();
    return new Answer(
        204,
        Answer.TEXT,
        new byte[0],
        Map.of(
            "Set-Cookie",
            "%s=%s; Path=/; HttpOnly; SameSite=Strict".formatted(cookieName, cookie.get())));
  }

  private boolean mayRead(HttpExchange exchange) {
    return isKnown(exchange) && !Gate.isFromAnotherPage(exchange.getRequestHeaders());
  }

  private boolean isKnown(HttpExchange exchange) {
    List<String> cookies = exchange.getRequestHeaders().getOrDefault("Cookie", List.of());
    return cookies.stream()
        .flatMap(it -> Arrays.stream(it.split(";", -1)))
        .map(String::strip)
        .filter(it -> it.startsWith(cookieName + "="))
        .anyMatch(it -> access.isKnown(it.substring(cookieName.length() + 1)));
  }
}
