package dev.flotilla.board.live;

import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** Reads server-sent events as a browser does; the lengths of chunks are passed over. */
final class EventReader {

  private final BufferedReader lines;

  /**
   * What a page is told.
   *
   * @param id what a browser would come back with
   * @param data the text
   */
  record Event(String id, String data) {}

  EventReader(Socket stream) throws IOException {
    lines =
        new BufferedReader(new InputStreamReader(stream.getInputStream(), StandardCharsets.UTF_8));
  }

  /** Returns the next event of a kind. */
  Event next(String kind) throws IOException {
    while (true) {
      Map<String, String> event = new LinkedHashMap<>();
      String line = lines.readLine();
      while (line != null && !(line.isEmpty() && event.containsKey("data"))) {
        add(event, line);
        line = lines.readLine();
      }
      if (line == null) {
        throw new EOFException("the stream has ended");
      }
      if (kind.equals(event.get("event"))) {
        return new Event(event.getOrDefault("id", ""), event.getOrDefault("data", ""));
      }
    }
  }

  private static void add(Map<String, String> event, String line) {
    int colon = line.indexOf(':');
    if (colon > 0 && line.substring(0, colon).matches("event|id|data|retry")) {
      event.put(line.substring(0, colon), line.substring(colon + 1).strip());
    } else if (event.containsKey("data") && !line.matches("[0-9a-f]{1,4}")) {
      event.merge("data", line, String::concat); // a text that was cut into chunks
    }
  }
}
