package dev.flotilla.app;

import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Networks of their own on this machine, each with a loopback interface and nothing else. Making
 * them needs root; where it is not possible, the test is aborted.
 */
final class NetworkNamespaces implements AutoCloseable {

  private final List<String> names;

  private NetworkNamespaces(List<String> names) {
    this.names = names;
  }

  static NetworkNamespaces create(String... names) {
    var all = new NetworkNamespaces(List.of(names));
    try {
      for (String name : names) {
        all.require("netns", "add", all.name(name));
        all.require("-n", all.name(name), "link", "set", "lo", "up");
      }
      return all;
    } catch (RuntimeException e) {
      all.close();
      throw e;
    }
  }

  /** Returns what the system calls one of them. */
  String name(String name) {
    return "flotilla-%d-%s".formatted(ProcessHandle.current().pid(), name);
  }

  /** Runs {@code ip}. */
  void require(String... arguments) {
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

  /** Takes them away, with all cables; what was never made is not missed. */
  @Override
  public void close() {
    names.forEach(name -> ip("netns", "del", name(name)));
  }
}
