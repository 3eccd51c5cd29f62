package dev.flotilla.app;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The names by which a server may be asked for, so that a page of another site cannot read from it
 * by pointing its own name here (DNS rebinding). Numbers of addresses cannot be pointed elsewhere.
 */
record HostNames(Set<String> names) {

  private static final Pattern HOST =
      Pattern.compile("(\\[[0-9a-f:.]{2,45}\\]|[0-9a-z._-]{1,253})(:[0-9]{1,5})?");
  private static final Pattern NUMBERS =
      Pattern.compile("\\[[0-9a-f:.]+\\]|[0-9]{1,3}(\\.[0-9]{1,3}){3}");

  /** Returns those of a server that listens on an address; beyond this host, its own name too. */
  static HostNames of(String host, InetAddress address) {
    Set<String> names = new TreeSet<>(Set.of("localhost", host.toLowerCase(Locale.ROOT)));
    if (!address.isLoopbackAddress()) {
      try {
        var here = InetAddress.getLocalHost();
        names.add(here.getHostName().toLowerCase(Locale.ROOT));
        names.add(here.getCanonicalHostName().toLowerCase(Locale.ROOT));
      } catch (UnknownHostException nameless) {
        // A host without a name of its own is asked for by its address.
      }
    }
    return new HostNames(names);
  }

  /** Tells whether a Host header means this server. */
  boolean isMeantBy(@Nullable String header) {
    var matcher = HOST.matcher(header == null ? "" : header.toLowerCase(Locale.ROOT));
    return matcher.matches()
        && (names.contains(matcher.group(1)) || NUMBERS.matcher(matcher.group(1)).matches());
  }
}
