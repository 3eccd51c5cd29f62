package dev.flotilla.app;

import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Some network namespaces that a switch connects, each with an IPv4 and an IPv6 address; see {@link
 * NetworkNamespaces}.
 */
final class BridgedHosts implements AutoCloseable {

  private static final String SWITCH = "switch";

  private final NetworkNamespaces namespaces;

  private BridgedHosts(NetworkNamespaces namespaces) {
    this.namespaces = namespaces;
  }

  /** Connects so many new hosts. */
  static BridgedHosts connect(int count) {
    String[] names =
        Stream.concat(Stream.of(SWITCH), IntStream.range(0, count).mapToObj(Integer::toString))
            .toArray(String[]::new);
    var hosts = new BridgedHosts(NetworkNamespaces.create(names));
    try {
      hosts.inSwitch("link", "add", "bridge", "type", "bridge");
      hosts.inSwitch("link", "set", "bridge", "up");
      for (int host = 0; host < count; host++) {
        hosts.connectOne(host);
      }
      return hosts;
    } catch (RuntimeException e) {
      hosts.close();
      throw e;
    }
  }

  private void connectOne(int host) {
    String peer = namespaces.name(SWITCH);
    inHost(host, "link", "add", "cable0", "type", "veth", "peer", port(host), "netns", peer);
    inSwitch("link", "set", port(host), "master", "bridge");
    inSwitch("link", "set", port(host), "up");
    inHost(host, "addr", "add", address(host) + "/24", "dev", "cable0");
    inHost(host, "addr", "add", address6(host) + "/64", "dev", "cable0", "nodad");
    inHost(host, "link", "set", "cable0", "up");
  }

  private static String port(int host) {
    return "port" + host;
  }

  private void inSwitch(String... words) {
    namespaces.require(prepend(namespaces.name(SWITCH), words));
  }

  private void inHost(int host, String... words) {
    namespaces.require(prepend(name(host), words));
  }

  private static String[] prepend(String namespace, String... words) {
    return Stream.concat(Stream.of("-n", namespace), Stream.of(words)).toArray(String[]::new);
  }

  String name(int host) {
    return namespaces.name(Integer.toString(host));
  }

  String address(int host) {
    return "10.231.79." + (1 + host);
  }

  String address6(int host) {
    return "fd00:231:79::" + (1 + host);
  }

  /** Has the switch drop all that comes from a host and goes to it; no host sees that. */
  void cut(int host) {
    inSwitch("link", "set", port(host), "down");
  }

  void mend(int host) {
    inSwitch("link", "set", port(host), "up");
  }

  @Override
  public void close() {
    namespaces.close();
  }
}
