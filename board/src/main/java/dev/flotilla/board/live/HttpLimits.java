package dev.flotilla.board.live;

import java.util.Map;

/**
 * What the JDK's server allows a connection. It reads these system properties once, when its first
 * server is made, and has no other way to set them.
 */
final class HttpLimits {

  private static final Map<String, String> PROPERTIES =
      Map.of(
          // seconds for a request to arrive whole, so that one byte a second leads nowhere
          "sun.net.httpserver.maxReqTime", "10",
          "sun.net.httpserver.idleInterval", "30",
          // milliseconds between two looks at idle connections, and at those above
          "sun.net.httpserver.clockTick", "1000",
          "sun.net.httpserver.timerMillis", "500",
          "sun.net.httpserver.maxReqHeaders", "64",
          "sun.net.httpserver.maxReqHeaderSize", "16384",
          // bytes read of a body that nobody wants, before the connection is closed
          "sun.net.httpserver.drainAmount", "4096",
          "sun.net.httpserver.nodelay", "true",
          "sun.net.httpserver.maxIdleConnections", "200",
          "jdk.httpserver.maxConnections", "1024");

  private HttpLimits() {}

  /** Sets what is not set on the command line. */
  static void apply() {
    PROPERTIES.forEach(
        (name, value) -> {
          if (System.getProperty(name) == null) {
            System.setProperty(name, value);
          }
        });
  }
}
