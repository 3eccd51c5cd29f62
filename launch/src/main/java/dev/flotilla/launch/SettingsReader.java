package dev.flotilla.launch;

import dev.flotilla.launch.FlagReader.Given;
import dev.flotilla.world.HostPort;
import dev.flotilla.world.RankEnvironment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Turns the values of options into settings. */
final class SettingsReader {

  private static final int DEFAULT_ENDPOINT_PORT = 29400;
  private static final Path DEFAULT_LOG_DIR = Path.of("log");

  private final FlagReader flags;
  private final Map<String, String> environment;
  private final int cores;
  private final Supplier<Set<String>> hostAddresses;
  private final List<String> problems = new ArrayList<>();

  SettingsReader(
      FlagReader flags,
      Map<String, String> environment,
      int cores,
      Supplier<Set<String>> hostAddresses) {
    this.flags = flags;
    this.environment = environment;
    this.cores = cores;
    this.hostAddresses = hostAddresses;
    problems.addAll(flags.problems());
  }

  ParsedFlags read() {
    Optional<LaunchSettings> settings = settings();
    Optional<Path> logDir = value(FlagTable.LOG_DIR).map(Path::of);
    if (!problems.isEmpty()) {
      throw new LaunchException(problems);
    }
    return new ParsedFlags(
        settings.orElseThrow(),
        logDir,
        value(FlagTable.MAIN),
        value(FlagTable.CLASS_PATH),
        flags.appArguments(),
        flags.rest(),
        flags.warnings());
  }

  private Optional<LaunchSettings> settings() {
    int processes = processes();
    List<String> hosts = hosts();
    int nodes = nodes(hosts);
    int nodeRank = nodeRank(hosts, nodes);
    Optional<HostPort> master = master(hosts, nodes);
    Duration grace = grace();
    checkBackend();
    if (!problems.isEmpty()) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          new LaunchSettings(
              processes,
              nodes,
              nodeRank,
              master.map(HostPort::host),
              master.map(HostPort::port).orElse(OptionalInt.empty()),
              hosts,
              value(FlagTable.RDZV_ID).orElse("none"),
              value(FlagTable.ROLE).orElse("default"),
              value(FlagTable.LOG_DIR).map(Path::of).orElse(DEFAULT_LOG_DIR),
              grace));
    } catch (LaunchException e) {
      problems.addAll(e.problems());
      return Optional.empty();
    }
  }

  private int processes() {
    Optional<Given> given = flags.value(FlagTable.NPROC);
    if (given.isEmpty()) {
      return 1;
    }
    return switch (given.get().value()) {
      case "auto", "cpu" -> Math.max(1, cores);
      case "gpu", "xpu" -> {
        wrong(given.get(), "ranks run on CPUs in this version; give a number, auto or cpu");
        yield 1;
      }
      default ->
          number(
              given.get(),
              1,
              LaunchSettings.MOST_PROCESSES,
              "a whole number from 1 to 1024, auto or cpu");
    };
  }

  private List<String> hosts() {
    return value(FlagTable.IPS)
        .map(ips -> Stream.of(ips.split(",", -1)).map(String::strip).toList())
        .orElse(List.of());
  }

  private int nodes(List<String> hosts) {
    int listed = Math.max(1, hosts.size());
    Optional<Given> given = flags.value(FlagTable.NNODES);
    if (given.isEmpty()) {
      return listed;
    }
    String[] range = given.get().value().split(":", -1);
    if (range.length == 2 && !range[0].equals(range[1])) {
      wrong(given.get(), "the number of hosts is fixed for a launch; give one number");
      return listed;
    }
    var number = new Given(range[0], given.get().spelled(), given.get().fromCommandLine());
    if (range.length > 2) {
      number = given.get();
    }
    int nodes = number(number, 1, Integer.MAX_VALUE, "a whole number of 1 or more");
    if (value(FlagTable.STANDALONE).isPresent() && nodes > 1) {
      problems.add(
          "--standalone is for one host, but %s says %d".formatted(given.get().spelled(), nodes));
    }
    return nodes;
  }

  private int nodeRank(List<String> hosts, int nodes) {
    Optional<Given> given =
        flags.value(FlagTable.NODE_RANK).filter(rank -> !rank.value().equals("-1"));
    String index = environment.get(RankEnvironment.JOB_COMPLETION_INDEX);
    if (given.isEmpty() && nodes > 1 && index != null) {
      given = Optional.of(new Given(index, RankEnvironment.JOB_COMPLETION_INDEX, false));
    }
    if (given.isPresent()) {
      return number(given.get(), 0, nodes - 1, "a whole number from 0 to %d".formatted(nodes - 1));
    }
    return nodes == 1 ? 0 : indexOfThisHost(hosts, nodes);
  }

  private int indexOfThisHost(List<String> hosts, int nodes) {
    if (!hosts.isEmpty()) {
      Set<String> own = hostAddresses.get();
      int[] matches =
          IntStream.range(0, hosts.size()).filter(i -> own.contains(hosts.get(i))).toArray();
      if (matches.length == 1) {
        return matches[0];
      }
    }
    problems.add(
        "--node-rank is needed to tell the %d hosts apart: give it as 0 to %d, another on each host"
            .formatted(nodes, nodes - 1));
    return 0;
  }

  private Optional<HostPort> master(List<String> hosts, int nodes) {
    List<HostPort> stated = mastersFrom(true);
    List<HostPort> masters = stated.isEmpty() ? mastersFrom(false) : stated;
    if (masters.stream().distinct().count() > 1) {
      problems.add("--master, --master-addr and --rdzv-endpoint name different masters: give one");
    }
    Optional<HostPort> first = masters.stream().findFirst();
    return first.isEmpty() ? defaultMaster(hosts, nodes) : first;
  }

  /** Without an address, a port alone serves one host, or the first of those listed. */
  private Optional<HostPort> defaultMaster(List<String> hosts, int nodes) {
    OptionalInt port = masterPort();
    if (!hosts.isEmpty()) {
      return Optional.of(new HostPort(hosts.getFirst(), port));
    }
    return nodes == 1 ? Optional.of(new HostPort("127.0.0.1", port)) : Optional.empty();
  }

  private List<HostPort> mastersFrom(boolean commandLine) {
    var masters = new ArrayList<HostPort>();
    endpoint(FlagTable.RDZV_ENDPOINT, commandLine)
        .map(it -> new HostPort(it.host(), OptionalInt.of(it.port().orElse(DEFAULT_ENDPOINT_PORT))))
        .ifPresent(masters::add);
    endpoint(FlagTable.MASTER, commandLine).ifPresent(masters::add);
    endpoint(FlagTable.MASTER_ADDR, commandLine)
        .map(it -> new HostPort(it.host(), masterPort()))
        .ifPresent(masters::add);
    return masters;
  }

  private Optional<HostPort> endpoint(String flag, boolean commandLine) {
    Optional<Given> given = flags.value(flag).filter(it -> it.fromCommandLine() == commandLine);
    Optional<HostPort> endpoint = given.flatMap(it -> HostPort.parse(it.value()));
    if (given.isPresent() && endpoint.isEmpty()) {
      wrong(given.get(), "must be a host or host:port");
    }
    return endpoint;
  }

  private OptionalInt masterPort() {
    Optional<Given> given = flags.value(FlagTable.MASTER_PORT);
    OptionalInt port = given.map(it -> HostPort.port(it.value())).orElse(OptionalInt.empty());
    if (given.isPresent() && port.isEmpty()) {
      wrong(given.get(), "must be a port from 1 to 65535");
    }
    return port;
  }

  private Duration grace() {
    return flags
        .value(FlagTable.GRACE)
        .map(
            given ->
                Duration.ofSeconds(number(given, 0, 7, "a whole number of seconds from 0 to 7")))
        .orElse(LaunchSettings.DEFAULT_GRACE);
  }

  private void checkBackend() {
    flags
        .value(FlagTable.RDZV_BACKEND)
        .filter(given -> !Set.of("static", "c10d").contains(given.value()))
        .ifPresent(given -> wrong(given, "must be static or c10d"));
  }

  private int number(Given given, int least, int most, String allowed) {
    String text = given.value().strip();
    if (text.matches("[0-9]{1,9}")) {
      int number = Integer.parseInt(text);
      if (number >= least && number <= most) {
        return number;
      }
    }
    wrong(given, "must be " + allowed);
    return least;
  }

  private void wrong(Given given, String requirement) {
    String problem = "%s %s, but was '%s'".formatted(given.spelled(), requirement, given.value());
    if (!problems.contains(problem)) {
      problems.add(problem);
    }
  }

  private Optional<String> value(String flag) {
    return flags.value(flag).map(Given::value);
  }
}
