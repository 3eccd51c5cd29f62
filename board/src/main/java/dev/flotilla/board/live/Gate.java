package dev.flotilla.board.live;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Refuses what no browser would send that has opened this board: names that are not this host's
 * (DNS rebinding), other origins, other methods. Everything that is not listed is refused.
 *
 * @param hosts names and addresses under which the board may be asked for, in lower case; the port
 *     is free, as ssh forwards from another one
 */
record Gate(Set<String> hosts) {

  private static final Set<String> METHODS = Set.of("GET", "HEAD", "POST");

  /** Returns why a request is refused, or nothing. */
  Optional<Answer> refusal(HttpExchange exchange) {
    if (!METHODS.contains(exchange.getRequestMethod())) {
      return Optional.of(notAllowed("GET, HEAD, POST"));
    }
    var headers = exchange.getRequestHeaders();
    String host = only(headers, "Host");
    var uri = exchange.getRequestURI();
    if (host == null || uri.isAbsolute() || uri.getRawAuthority() != null) {
      return Optional.of(Answer.refusal(400, "one Host header and a plain path, please"));
    }
    if (!hosts.contains(name(host))) {
      return Optional.of(Answer.refusal(403, "this board is not known by that name"));
    }
    if (!isFromHere(exchange.getRequestMethod(), headers, host)) {
      return Optional.of(Answer.refusal(403, "requests from other pages are refused"));
    }
    return Optional.empty();
  }

  static Answer notAllowed(String allowed) {
    return new Answer(405, Answer.TEXT, new byte[0], Map.of("Allow", allowed));
  }

  /** Browsers send Origin with every POST, and with every request from another page's script. */
  private static boolean isFromHere(String method, Headers headers, String host) {
    if (!headers.containsKey("Origin")) {
      return !method.equals("POST");
    }
    String origin = only(headers, "Origin");
    return origin != null && origin.equalsIgnoreCase("http://" + host);
  }

  /** Tells whether a browser says that another page asks; a page may still link to this one. */
  static boolean isFromAnotherPage(Headers headers) {
    String site = headers.getFirst("Sec-Fetch-Site");
    return site != null && !site.equals("same-origin");
  }

  private static @Nullable String only(Headers headers, String name) {
    List<String> values = headers.get(name);
    return values == null || values.size() != 1 ? null : values.getFirst();
  }

  /** Cuts the port off; an IPv6 address stands in brackets. */
  private static String name(String host) {
    int end = host.startsWith("[") ? host.indexOf(']') + 1 : host.indexOf(':');
    String name = end > 0 ? host.substring(0, end) : host;
    return host.substring(name.length()).matches("(:\\d{1,5})?")
        ? name.toLowerCase(Locale.ROOT)
        : "";
  }
}
