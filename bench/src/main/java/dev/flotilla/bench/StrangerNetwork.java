package dev.flotilla.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Two network namespaces with a cable between them, a third, the stranger's, that reaches both, and
 * a fourth that he alone reaches; needs root and {@code ip}.
 */
final class StrangerNetwork implements AutoCloseable {

  /** The address of the place that has nothing to do with the job. */
  static final String ELSEWHERE = "10.232.78.9";

  private final String prefix = "bench-%d-".formatted(ProcessHandle.current().pid());

  private StrangerNetwork() {}

  static StrangerNetwork connect() throws IOException {
    var network = new StrangerNetwork();
    try {
      network.add(network.host(0));
      network.add(network.host(1));
      network.add(network.stranger());
      network.add(network.elsewhere());
      network.cable("cable", network.host(0), address(0), network.host(1), address(1));
      for (int host = 0; host < 2; host++) {
        String inside = "10.232.78." + (4 * host + 1);
        String outside = "10.232.78." + (4 * host + 2);
        network.cable("door" + host, network.host(host), inside, network.stranger(), outside);
        ip("-n", network.stranger(), "route", "add", address(host) + "/32", "via", inside);
      }
      String own = "10.232.78.10";
      network.cable("away", network.elsewhere(), ELSEWHERE, network.stranger(), own);
      return network;
    } catch (IOException e) {
      network.close();
      throw e;
    }
  }

  String host(int host) {
    return prefix + host;
  }

  String stranger() {
    return prefix + "stranger";
  }

  String elsewhere() {
    return prefix + "elsewhere";
  }

  static String address(int host) {
    return "10.232.77." + (1 + host);
  }

  private void add(String name) throws IOException {
    ip("netns", "add", name);
    ip("-n", name, "link", "set", "lo", "up");
  }

  private void cable(String name, String from, String fromAddress, String to, String toAddress)
      throws IOException {
    ip(
        List.of("link", "add", name, "netns", from, "type", "veth"),
        List.of("peer", "name", name, "netns", to));
    for (var end : List.of(List.of(from, fromAddress), List.of(to, toAddress))) {
      ip("-n", end.getFirst(), "addr", "add", end.getLast() + "/30", "dev", name);
      ip("-n", end.getFirst(), "link", "set", name, "up");
    }
  }

  private static void ip(List<String> words, List<String> more) throws IOException {
    var all = new ArrayList<>(words);
    all.addAll(more);
    ip(all.toArray(String[]::new));
  }

  private static void ip(String... words) throws IOException {
    var command = new ArrayList<>(List.of("ip"));
    command.addAll(List.of(words));
    var process = new ProcessBuilder(command).redirectErrorStream(true).start();
    var said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    try {
      if (!process.waitFor(10, TimeUnit.SECONDS) || process.exitValue() != 0) {
        process.destroyForcibly();
        throw new IOException("%s: %s".formatted(String.join(" ", command), said.strip()));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  @Override
  public void close() {
    for (String name : List.of(host(0), host(1), stranger(), elsewhere())) {
      try {
        ip("netns", "del", name);
      } catch (IOException e) {
        // It was never made.
      }
    }
  }
}
