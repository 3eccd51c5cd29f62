package dev.flotilla.world;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * A host and perhaps a port, as people write them: {@code host}, {@code host:29500}, {@code
 * [::1]:29500}.
 *
 * @param host name or address, without brackets
 * @param port the port, where one was written
 */
public record HostPort(String host, OptionalInt port) {

  /** The largest port there is. */
  public static final int LARGEST_PORT = 65535;

  /** Reads a host with an optional port; empty when the text is neither. */
  public static Optional<HostPort> parse(String text) {
    String trimmed = text.strip();
    int bracket = trimmed.lastIndexOf(']');
    int colon = trimmed.indexOf(':', Math.max(bracket, 0));
    if (colon < 0 || isBareIpv6(trimmed)) {
      return host(trimmed).map(host -> new HostPort(host, OptionalInt.empty()));
    }
    OptionalInt port = port(trimmed.substring(colon + 1));
    return port.isEmpty()
        ? Optional.empty()
        : host(trimmed.substring(0, colon)).map(host -> new HostPort(host, port));
  }

  /** Reads a port number from 1 to 65535; empty when the text is none. */
  public static OptionalInt port(String text) {
    String digits = text.strip();
    if (!digits.matches("[0-9]{1,5}")) {
      return OptionalInt.empty();
    }
    int port = Integer.parseInt(digits);
    return port >= 1 && port <= LARGEST_PORT ? OptionalInt.of(port) : OptionalInt.empty();
  }

  /** Tells whether a host name or address stands for this very host. */
  public static boolean isLoopback(String host) {
    return host.equals("localhost") || host.startsWith("127.") || host.equals("::1");
  }

  /** Joins a host and a port; an IPv6 address is put into brackets. */
  public static String join(String host, int port) {
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
  }

  private static boolean isBareIpv6(String text) {
    return !text.startsWith("[") && text.indexOf(':') != text.lastIndexOf(':');
  }

  private static Optional<String> host(String text) {
    boolean bracketed = text.startsWith("[") && text.endsWith("]");
    String host = bracketed ? text.substring(1, text.length() - 1) : text;
    return host.matches("[A-Za-z0-9_.:%-]+") ? Optional.of(host) : Optional.empty();
  }
}
