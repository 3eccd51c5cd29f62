package dev.flotilla.board.live;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * Server-sent events: one thread for each page that is open, which sends the newest state and then
 * waits for a newer one. A page that does not take what it is sent is dropped.
 */
final class Streams {

  /** Pages that may be open at a time; one more ends the oldest. */
  static final int MOST = 32;

  static final Duration HEARTBEAT = Duration.ofSeconds(10);
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final Runs runs;
  private final Deadlines deadlines;
  private final Deque<Thread> open = new ArrayDeque<>();

  Streams(Runs runs, Deadlines deadlines) {
    this.runs = runs;
    this.deadlines = deadlines;
  }

  /**
   * Sends events until the page is closed.
   *
   * @param ids runs to tell all of
   */
  void serve(HttpExchange exchange, Set<String> ids) throws IOException {
    enter();
    runs.watch(ids);
    try {
      Answer.addStandardHeaders(exchange);
      exchange.getResponseHeaders().set("Content-Type", "text/event-stream; charset=utf-8");
      exchange.sendResponseHeaders(200, 0);
      send(exchange, "retry: 2000\n\n");
      Map<String, String> seen = lastSeen(exchange);
      Map<String, String> told = new HashMap<>(seen);
      while (true) {
        var news = runs.news(ids, seen, HEARTBEAT);
        if (news.isEmpty()) {
          send(exchange, ":\n\n");
        }
        for (var one : news) {
          told.put(one.getKey(), one.getValue().version());
          tell(exchange, one.getKey(), one.getValue(), told);
        }
      }
    } catch (InterruptedException _) {
      throw new IOException("dropped to make room, or at the board's end");
    } finally {
      runs.unwatch(ids);
      leave();
      exchange.close();
    }
  }

  private void tell(HttpExchange exchange, String name, Message message, Map<String, String> told)
      throws IOException {
    deadlines.within(PATIENCE);
    var id = new StringBuilder();
    told.forEach((key, version) -> id.append(key).append('=').append(version).append(' '));
    var head = "event: " + (name.isEmpty() ? "runs" : "run") + "\nid: " + id + "\ndata: ";
    Answer.write(exchange, head.getBytes(StandardCharsets.UTF_8));
    for (int from = 0; from < message.body().length; from += Answer.SLICE) {
      deadlines.within(PATIENCE);
      Answer.writeSlice(exchange, message.body(), from);
    }
    send(exchange, "\n\n");
  }

  private void send(HttpExchange exchange, String text) throws IOException {
    deadlines.within(PATIENCE);
    Answer.write(exchange, text.getBytes(StandardCharsets.UTF_8));
    deadlines.lift();
  }

  /** A browser that comes back says what it has; it is not sent again. */
  private static Map<String, String> lastSeen(HttpExchange exchange) {
    Map<String, String> seen = new HashMap<>();
    var last = exchange.getRequestHeaders().getFirst("Last-Event-ID");
    if (last != null) {
      for (var one : last.strip().split(" ", -1)) {
        int at = one.indexOf('=');
        if (at >= 0 && seen.size() < Requested.MOST_RUNS + 1) {
          seen.put(one.substring(0, at), one.substring(at + 1));
        }
      }
    }
    return seen;
  }

  private void enter() {
    synchronized (open) {
      if (open.size() >= MOST) {
        open.removeFirst().interrupt();
      }
      open.addLast(Thread.currentThread());
    }
  }

  private void leave() {
    deadlines.lift();
    synchronized (open) {
      open.remove(Thread.currentThread());
    }
  }
}
