package dev.flotilla.app;

import dev.flotilla.settings.ConfigException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * Test hosts on this machine: network namespaces around a switch, each link shaped both ways.
 *
 * <p>Everything lives in namespaces of its own: the machine's interfaces and routes stay as they
 * are. Needs root. What a process that was killed has left is removed by the next one.
 */
final class Lab implements AutoCloseable {

  private static final Pattern RATE = Pattern.compile("free|\\d+(\\.\\d+)?[kmg]bit");
  private static final Pattern NAME = Pattern.compile("flotilla-lab-(\\d+)-\\w+");

  private final String prefix = "flotilla-lab-%d-".formatted(ProcessHandle.current().pid());
  private final int hosts;
  private final Thread atExit = new Thread(this::remove, "flotilla-lab");

  private Lab(int hosts) {
    this.hosts = hosts;
  }

  /**
   * Checks rates as people write them, before anything is built.
   *
   * @throws ConfigException if one is none
   */
  static void requireRates(List<String> rates) {
    for (var rate : rates) {
      if (!RATE.matcher(rate).matches()) {
        throw new ConfigException(
            "--rates",
            "must be 'free', or a number with kbit, mbit or gbit such as 100mbit, but was '%s'"
                .formatted(rate));
      }
    }
  }

  /** Builds a lab, or says why there is none. */
  static Optional<Lab> build(int hosts) {
    removeLeftOvers();
    var lab = new Lab(hosts);
    Runtime.getRuntime().addShutdownHook(lab.atExit);
    for (var command : lab.plan()) {
      String complaint = run(command);
      if (!complaint.isEmpty()) {
        System.err.printf(
            "flotilla: no test hosts (%s: %s): they need root and the commands ip and tc; "
                + "measuring over the loopback interface, unshaped%n",
            String.join(" ", command), complaint);
        lab.close();
        return Optional.empty();
      }
    }
    return Optional.of(lab);
  }

  private List<List<String>> plan() {
    List<List<String>> commands = new ArrayList<>();
    commands.add(List.of("ip", "netns", "add", netSwitch()));
    commands.add(ip(netSwitch(), "link add br0 type bridge"));
    commands.add(ip(netSwitch(), "link set br0 up"));
    for (int i = 0; i < hosts; i++) {
      String port = "p" + i;
      commands.add(List.of("ip", "netns", "add", name(i)));
      commands.add(ip(name(i), "link add e0 type veth peer name %s netns %s", port, netSwitch()));
      commands.add(ip(netSwitch(), "link set %s master br0", port));
      commands.add(ip(netSwitch(), "link set %s up", port));
      commands.add(ip(name(i), "addr add %s/24 dev e0", address(i)));
      commands.add(ip(name(i), "link set lo up"));
      commands.add(ip(name(i), "link set e0 up"));
    }
    return commands;
  }

  private String netSwitch() {
    return prefix + "switch";
  }

  private String name(int host) {
    return prefix + "h" + host;
  }

  /** Returns the address of a host. */
  String address(int host) {
    return "10.97.0." + (host + 1);
  }

  /** Returns what to put before a command so that it runs on a host. */
  List<String> on(int host) {
    return List.of("ip", "netns", "exec", name(host));
  }

  /**
   * Shapes all links.
   *
   * @param rate as tc writes it, or "free"
   * @throws ConfigException if tc refuses it
   */
  void shape(String rate) {
    for (int i = 0; i < hosts; i++) {
      String complaint = shape(name(i), "e0", rate) + shape(netSwitch(), "p" + i, rate);
      if (!complaint.isEmpty()) {
        throw new ConfigException("--rates", "tc refuses '%s': %s".formatted(rate, complaint));
      }
    }
  }

  private static String shape(String namespace, String device, String rate) {
    var start = "ip netns exec " + namespace + " tc qdisc ";
    if (rate.equals("free")) {
      // There may be nothing to take away.
      run(words(start + "del dev " + device + " root"));
      return "";
    }
    String shaping = " root tbf rate %s burst %s latency 50ms".formatted(rate, burst(rate));
    return run(words(start + "replace dev " + device + shaping));
  }

  /** Small enough that a compressed message is not free, large enough to reach the rate. */
  private static String burst(String rate) {
    return rate.endsWith("gbit") ? "128kb" : "32kb";
  }

  private static List<String> ip(String namespace, String format, Object... values) {
    return words("ip -n " + namespace + " " + format.formatted(values));
  }

  private static List<String> words(String line) {
    return List.of(line.split(" ", -1));
  }

  private static void removeLeftOvers() {
    var known = NAME.matcher(output(List.of("ip", "netns", "list")));
    while (known.find()) {
      long process = Long.parseLong(known.group(1));
      if (ProcessHandle.of(process).isEmpty()) {
        run(List.of("ip", "netns", "del", known.group()));
      }
    }
  }

  /** Takes everything away. */
  @Override
  public void close() {
    remove();
    Runtime.getRuntime().removeShutdownHook(atExit);
  }

  private void remove() {
    IntStream.range(0, hosts).forEach(i -> run(List.of("ip", "netns", "del", name(i))));
    run(List.of("ip", "netns", "del", netSwitch()));
  }

  /** Runs a command; returns what it complains about, or nothing. */
  private static String run(List<String> command) {
    try {
      var process = new ProcessBuilder(command).redirectErrorStream(true).start();
      if (!process.waitFor(10, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        return "takes longer than 10 s";
      }
      String output = read(process);
      return process.exitValue() == 0 ? "" : "exit code " + process.exitValue() + " " + output;
    } catch (IOException e) {
      return String.valueOf(e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "interrupted";
    }
  }

  private static String output(List<String> command) {
    try {
      return read(new ProcessBuilder(command).redirectErrorStream(true).start());
    } catch (IOException e) {
      return "";
    }
  }

  private static String read(Process process) throws IOException {
    return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
  }
}
