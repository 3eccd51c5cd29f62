package dev.flotilla.control;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Consumer;

/**
 * Those whom a hub calls, again and again until they have let it in; for the hub's thread alone.
 */
final class Dialling {

  private final List<Dial> waiting = new ArrayList<>();
  private final Map<Connection, Dial> unanswered = new HashMap<>();

  /** Calls somebody from the next turn on. */
  void add(Dial dial) {
    waiting.add(dial);
  }

  /**
   * Calls everybody whose turn it is.
   *
   * @param take makes a connection of a channel, unless there is no room for it
   * @param failures is told why somebody is not called any more
   */
  void turn(
      BiFunction<SocketChannel, Connection.Greeter, Optional<Connection>> take,
      Consumer<String> failures) {
    for (Dial dial : List.copyOf(waiting)) {
      try {
        Optional<SocketChannel> channel = dial.attempt();
        if (channel.isPresent()) {
          waiting.remove(dial);
          take.apply(channel.get(), dial.greeter())
              .ifPresentOrElse(
                  connection -> unanswered.put(connection, dial), () -> waiting.add(dial));
        }
      } catch (IOException e) {
        waiting.remove(dial);
        failures.accept(dial.failed(e));
      }
    }
  }

  /** Ends the calls to whoever is at the other end: it has answered, for good or ill. */
  void answered(Connection connection) {
    unanswered.remove(connection);
  }

  /** Calls again where this was a call that nobody has answered. */
  void lost(Connection connection) {
    Dial dial = unanswered.remove(connection);
    if (dial != null) {
      waiting.add(dial);
    }
  }

  /** Ends all calls. */
  void close() throws IOException {
    for (Dial dial : waiting) {
      dial.forget();
    }
  }
}
