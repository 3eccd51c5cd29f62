package dev.flotilla.launch;

import dev.flotilla.launch.FlagReader.Given;
import dev.flotilla.world.HostPort;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;

/**
 * Finds the master among the several options that can name it.
 *
 * <p>Port 0 means any free port, which only one host can have.
 */
final class MasterFlags {

  private static final int DEFAULT_ENDPOINT_PORT = 29400;
  private static final String ANY_PORT = "0";

  private final FlagReader flags;
  private final int nodes;

  MasterFlags(FlagReader flags, int nodes) {
    this.flags = flags;
    this.nodes = nodes;
  }

  /** Returns host 0 and its port; those of the command line go before those of variables. */
  Optional<HostPort> master(List<String> hosts) {
    OptionalInt port = port(flags.value(FlagTable.MASTER_PORT));
    List<HostPort> masters =
        Stream.of(masters(true, port), masters(false, port))
            .filter(list -> !list.isEmpty())
            .findFirst()
            .orElse(List.of());
    if (masters.stream().distinct().count() > 1) {
      flags.problem("--master, --master-addr and --rdzv-endpoint name different masters; give one");
    }
    return masters.stream().findFirst().or(() -> defaultMaster(hosts, port));
  }

  /** Without an address, a port alone serves one host, or the first of those listed. */
  private Optional<HostPort> defaultMaster(List<String> hosts, OptionalInt port) {
    if (!hosts.isEmpty()) {
      return Optional.of(new HostPort(hosts.getFirst(), port));
    }
    return nodes == 1 ? Optional.of(new HostPort("127.0.0.1", port)) : Optional.empty();
  }

  private List<HostPort> masters(boolean commandLine, OptionalInt port) {
    var masters = new ArrayList<HostPort>();
    given(FlagTable.RDZV_ENDPOINT, commandLine)
        .flatMap(it -> endpoint(it, port, DEFAULT_ENDPOINT_PORT))
        .ifPresent(masters::add);
    given(FlagTable.MASTER, commandLine)
        .flatMap(it -> endpoint(it, port, 0))
        .ifPresent(masters::add);
    given(FlagTable.MASTER_ADDR, commandLine)
        .flatMap(it -> address(it, port))
        .ifPresent(masters::add);
    return masters;
  }

  private Optional<Given> given(String flag, boolean commandLine) {
    return flags.value(flag).filter(it -> it.fromCommandLine() == commandLine);
  }

  private Optional<HostPort> address(Given given, OptionalInt port) {
    Optional<HostPort> address = HostPort.parse(given.value()).filter(it -> it.port().isEmpty());
    if (address.isEmpty()) {
      flags.wrong(given, "must be a host name or address without port");
    }
    return address.map(it -> new HostPort(it.host(), port));
  }

  private Optional<HostPort> endpoint(Given given, OptionalInt portFlag, int defaultPort) {
    boolean anyPort = given.value().endsWith(":" + ANY_PORT);
    String text = anyPort ? given.value().substring(0, given.value().length() - 2) : given.value();
    Optional<HostPort> endpoint = HostPort.parse(text);
    if (endpoint.isEmpty()) {
      flags.wrong(given, "must be a host or host:port");
      return endpoint;
    }
    if (anyPort) {
      requireOneHost(given);
      return endpoint;
    }
    OptionalInt own = endpoint.get().port();
    if (own.isPresent() && portFlag.isPresent() && !own.equals(portFlag) && !overrides(given)) {
      flags.wrong(given, "must not contradict --master-port");
    }
    return Optional.of(new HostPort(endpoint.get().host(), first(own, portFlag, defaultPort)));
  }

  /** An option goes before a port that comes from the environment. */
  private boolean overrides(Given given) {
    return given.fromCommandLine() && given(FlagTable.MASTER_PORT, true).isEmpty();
  }

  private OptionalInt first(OptionalInt own, OptionalInt portFlag, int defaultPort) {
    if (own.isPresent() || portFlag.isPresent()) {
      return own.isPresent() ? own : portFlag;
    }
    return nodes > 1 && defaultPort > 0 ? OptionalInt.of(defaultPort) : OptionalInt.empty();
  }

  private OptionalInt port(Optional<Given> given) {
    if (given.isEmpty()) {
      return OptionalInt.empty();
    }
    if (given.get().value().equals(ANY_PORT)) {
      requireOneHost(given.get());
      return OptionalInt.empty();
    }
    OptionalInt port = HostPort.port(given.get().value());
    if (port.isEmpty()) {
      flags.wrong(given.get(), "must be a port from 1 to 65535");
    }
    return port;
  }

  private void requireOneHost(Given given) {
    if (nodes > 1) {
      flags.refuse(given, "several hosts cannot agree on any free port; give its number");
    }
  }
}
