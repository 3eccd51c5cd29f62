package dev.flotilla.app;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Two network namespaces of this machine with a cable between them, and nothing else; or with a
 * third one that reaches both. Making them needs root; where it is not possible, the test is
 * aborted.
 */
final class TwoHosts implements AutoCloseable {

  private static final String CABLE = "cable0";

  private final NetworkNamespaces namespaces;

  private TwoHosts(NetworkNamespaces namespaces) {
    this.namespaces = namespaces;
  }

  /** Connects two new hosts with a third, which takes no part in anything. */
  static TwoHosts connectWithStranger() {
    TwoHosts hosts = connect();
    try {
      for (int i = 0; i < 2; i++) {
        hosts.letIn(i);
      }
      return hosts;
    } catch (RuntimeException e) {
      hosts.close();
      throw e;
    }
  }

  private void letIn(int host) {
    String door = "door" + host;
    String inside = "10.231.78." + (4 * host + 1);
    require(
        "link",
        "add",
        door,
        "netns",
        stranger(),
        "type",
        "veth",
        "peer",
        "name",
        door,
        "netns",
        name(host));
    require("-n", name(host), "addr", "add", inside + "/30", "dev", door);
    require("-n", stranger(), "addr", "add", strangerAddress(host) + "/30", "dev", door);
    require("-n", name(host), "link", "set", door, "up");
    require("-n", stranger(), "link", "set", door, "up");
    require("-n", stranger(), "route", "add", address(host) + "/32", "via", inside);
  }

  /** Returns the address at which a host sees the stranger. */
  String strangerAddress(int host) {
    return "10.231.78." + (4 * host + 2);
  }

  /** Returns the arguments of a host's launcher for a small job of both, to be added to. */
  List<String> job(int node, int masterPort, Path key, int hidden) {
    return new ArrayList<>(
        List.of(
            "run",
            "--nnodes=2",
            "--nproc=1",
            "--node-rank=" + node,
            "--master-addr=" + address(0),
            "--master-port=" + masterPort,
            "--job-key-file=" + key,
            "--set=model={name: mlp, hidden: [%d]}".formatted(hidden),
            "--set=threads=1",
            "--set=eval={every: end}",
            "--set=epochs=10000",
            "--out=run"));
  }

  /** Connects two new hosts. */
  static TwoHosts connect() {
    var hosts = new TwoHosts(NetworkNamespaces.create("0", "1", "stranger"));
    try {
      hosts.require(
          "link",
          "add",
          CABLE,
          "netns",
          hosts.name(0),
          "type",
          "veth",
          "peer",
          "name",
          CABLE,
          "netns",
          hosts.name(1));
      for (int i = 0; i < 2; i++) {
        hosts.require("-n", hosts.name(i), "addr", "add", hosts.address(i) + "/30", "dev", CABLE);
        hosts.require("-n", hosts.name(i), "link", "set", CABLE, "up");
      }
      return hosts;
    } catch (RuntimeException e) {
      hosts.close();
      throw e;
    }
  }

  String name(int host) {
    return namespaces.name(Integer.toString(host));
  }

  String stranger() {
    return namespaces.name("stranger");
  }

  String address(int host) {
    return "10.231.77." + (1 + host);
  }

  /** Pulls the cable out of a host; the other one sees no carrier either. */
  void cut(int host) {
    require("-n", name(host), "link", "set", CABLE, "down");
  }

  private void require(String... arguments) {
    namespaces.require(arguments);
  }

  /** Takes the hosts away, with the cable. */
  @Override
  public void close() {
    namespaces.close();
  }
}
