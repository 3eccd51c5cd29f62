package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Two network namespaces of this machine with a cable between them, and nothing else; or with a
 * third one that reaches both. Making them needs root; where it is not possible, the test is
 * aborted.
 */
final class TwoHosts implements AutoCloseable {

  private static final String CABLE = "cable0";

  private final List<String> names;

  private TwoHosts(List<String> names) {
    this.names = names;
  }

  /** Connects two new hosts with a third, which takes no part in anything. */
  static TwoHosts connectWithStranger() {
    TwoHosts hosts = connect();
    try {
      hosts.require("-n", hosts.stranger(), "link", "set", "lo", "up");
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

  /** Connects two new hosts. */
  static TwoHosts connect() {
    String prefix = "flotilla-%d-".formatted(ProcessHandle.current().pid());
    var hosts = new TwoHosts(List.of(prefix + 0, prefix + 1, prefix + "stranger"));
    try {
      for (String host : hosts.names) {
        hosts.require("netns", "add", host);
      }
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
        hosts.require("-n", hosts.name(i), "link", "set", "lo", "up");
        hosts.require("-n", hosts.name(i), "link", "set", CABLE, "up");
      }
      return hosts;
    } catch (RuntimeException e) {
      hosts.close();
      throw e;
    }
  }

  String name(int host) {
    return names.get(host);
  }

  String stranger() {
    return names.getLast();
  }

  String address(int host) {
    return "10.231.77." + (1 + host);
  }

  /** Pulls the cable out of a host; the other one sees no carrier either. */
  void cut(int host) {
    assertThat(ip("-n", name(host), "link", "set", CABLE, "down")).isEmpty();
  }

  private void require(String... arguments) {
    String problem = ip(arguments);
    if (!problem.isEmpty()) {
      abort(
          "no network namespaces here: ip %s: %s".formatted(String.join(" ", arguments), problem));
    }
  }

  /** Runs a command; returns what it complains about, or nothing. */
  private static String ip(String... arguments) {
    var command = new ArrayList<>(List.of("ip"));
    command.addAll(List.of(arguments));
    try {
      var process = new ProcessBuilder(command).redirectErrorStream(true).start();
      if (!process.waitFor(10, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        return "takes longer than 10 s";
      }
      var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return process.exitValue() == 0 ? "" : "exit code " + process.exitValue() + " " + output;
    } catch (IOException e) {
      return String.valueOf(e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  /** Takes the hosts away, with the cable; what was never made is not missed. */
  @Override
  public void close() {
    names.forEach(name -> ip("netns", "del", name));
  }
}
