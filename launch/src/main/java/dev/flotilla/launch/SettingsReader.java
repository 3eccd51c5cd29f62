package dev.flotilla.launch;

import dev.flotilla.launch.FlagReader.Given;
import dev.flotilla.launch.tls.SecureChannel;
import dev.flotilla.world.HostPort;
import dev.flotilla.world.RankEnvironment;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
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

  private static final Path DEFAULT_LOG_DIR = Path.of("log");

  private final FlagReader flags;
  private final Map<String, String> environment;
  private final int cores;
  private final Supplier<Set<String>> hostAddresses;

  SettingsReader(
      FlagReader flags,
      Map<String, String> environment,
      int cores,
      Supplier<Set<String>> hostAddresses) {
    this.flags = flags;
    this.environment = environment;
    this.cores = cores;
    this.hostAddresses = hostAddresses;
  }

  ParsedFlags read() {
    Optional<LaunchSettings> settings = settings();
    Optional<Path> logDir = value(FlagTable.LOG_DIR).map(Path::of);
    if (!flags.problems().isEmpty()) {
      throw new LaunchException(flags.problems());
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
    List<Integer> gpus = gpus();
    int processes = processes(gpus);
    List<String> hosts = hosts();
    int nodes = nodes(hosts);
    int nodeRank = nodeRank(hosts, nodes);
    Optional<HostPort> master = new MasterFlags(flags, nodes).master(hosts);
    Duration grace = grace();
    FailurePolicy policy = new PolicyFlags(flags, environment).policy();
    checkRendezvous();
    checkKey(nodes, policy);
    Optional<String> backend = backend();
    checkSecure(nodes, policy, backend);
    if (!flags.problems().isEmpty()) {
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
              grace,
              policy,
              gpus,
              backend));
    } catch (LaunchException e) {
      e.problems().forEach(flags::problem);
      return Optional.empty();
    }
  }

  private void checkKey(int nodes, FailurePolicy policy) {
    if (nodes > 1 && policy.jobKey().isEmpty() && !policy.insecure()) {
      flags.problem(JobKeys.missing(nodes));
    }
    if (nodes > 1) {
      policy.jobKey().flatMap(JobKeys::problemWith).ifPresent(flags::problem);
    }
    if (nodes == 1 && flags.value(FlagTable.JOB_KEY).isPresent()) {
      flags.warn(FlagTable.JOB_KEY, "it is for the launchers of several hosts, and this is one");
    }
    if (policy.insecure() && (nodes == 1 || policy.jobKey().isPresent())) {
      flags.warn(
          FlagTable.INSECURE,
          nodes == 1 ? "one host makes a key by itself" : "the job has a key, which is used");
    }
  }

  /** What is asked for and cannot be had is an error, never less. */
  private void checkSecure(int nodes, FailurePolicy policy, Optional<String> backend) {
    if (policy.secure().isEmpty()) {
      return;
    }
    if (policy.insecure()) {
      flags.problem("--secure and --insecure contradict each other; give one");
    }
    if (nodes == 1) {
      flags.warn(FlagTable.SECURE, "one host opens nothing beyond loopback");
    } else if (backend.filter("nccl"::equals).isPresent()) {
      flags.problem(
          "--secure: NCCL between hosts cannot be encrypted; leave --backend nccl out, or give"
              + " --backend gloo");
    }
    policy
        .secure()
        .flatMap(SecureMode::files)
        .flatMap(SettingsReader::problemWith)
        .ifPresent(problem -> flags.problem("--secure: " + problem));
  }

  private static Optional<String> problemWith(TlsFiles files) {
    try {
      SecureChannel.check(files.certificate(), files.key(), files.authority());
      return Optional.empty();
    } catch (IOException e) {
      return Optional.of(FileTrouble.in(e));
    }
  }

  /** Returns the GPUs that are asked for, which must be there. */
  private List<Integer> gpus() {
    Optional<Given> given = flags.value(FlagTable.GPUS);
    if (given.isEmpty()) {
      return List.of();
    }
    String text = given.get().value().replace(" ", "");
    if (!text.matches("[0-9]{1,2}(,[0-9]{1,2})*")) {
      flags.wrong(given.get(), "must be numbers of GPUs separated by commas");
      return List.of();
    }
    var gpus = Stream.of(text.split(",", -1)).map(Integer::valueOf).toList();
    String problem = HostGpus.here(environment).problemWith(gpus);
    if (!problem.isEmpty()) {
      flags.refuse(given.get(), problem);
    }
    return gpus;
  }

  /** As many ranks as are asked for, or one for each GPU. */
  private int processes(List<Integer> gpus) {
    Optional<Given> given = flags.value(FlagTable.NPROC);
    if (given.isEmpty()) {
      return Math.max(1, gpus.size());
    }
    return switch (given.get().value()) {
      case "auto", "cpu" -> Math.max(1, cores);
      case "gpu" -> {
        int count = HostGpus.here(environment).count();
        if (count == 0) {
          flags.refuse(given.get(), "this host has no NVIDIA GPU; give a number, auto or cpu");
        }
        yield Math.max(1, count);
      }
      case "xpu" -> {
        flags.refuse(given.get(), "ranks run on CPUs or NVIDIA GPUs; give a number, gpu or cpu");
        yield 1;
      }
      default ->
          flags.number(
              given.get(),
              1,
              LaunchSettings.MOST_PROCESSES,
              "a whole number from 1 to 1024, auto, cpu or gpu");
    };
  }

  private List<String> hosts() {
    Optional<Given> given = flags.value(FlagTable.IPS);
    List<String> hosts =
        given
            .map(it -> Stream.of(it.value().split(",", -1)).map(String::strip).toList())
            .orElse(List.of());
    if (!hosts.stream().allMatch(SettingsReader::isHost)) {
      flags.wrong(given.orElseThrow(), "must be hosts separated by commas");
    }
    return hosts;
  }

  private static boolean isHost(String text) {
    return HostPort.parse(text).filter(host -> host.port().isEmpty()).isPresent();
  }

  private int nodes(List<String> hosts) {
    int nodes =
        flags.value(FlagTable.NNODES).map(this::nodes).orElseGet(() -> Math.max(1, hosts.size()));
    if (flags.value(FlagTable.STANDALONE).isPresent() && nodes > 1) {
      flags.problem("--standalone is for one host, but %d hosts are asked for".formatted(nodes));
    }
    return nodes;
  }

  private int nodes(Given given) {
    String[] range = given.value().split(":", -1);
    boolean isRange = range.length == 2;
    if (isRange && !range[0].equals(range[1])) {
      flags.refuse(given, "the number of hosts is fixed for a launch; give one number");
      return 1;
    }
    var number = isRange ? new Given(range[0], given.spelled(), true) : given;
    return flags.number(number, 1, LaunchSettings.MOST_NODES, "a whole number from 1 to 65536");
  }

  private int nodeRank(List<String> hosts, int nodes) {
    Optional<Given> given =
        flags.value(FlagTable.NODE_RANK).filter(rank -> !rank.value().equals("-1"));
    String index = environment.get(RankEnvironment.JOB_COMPLETION_INDEX);
    if (given.isEmpty() && nodes > 1 && index != null) {
      given = Optional.of(new Given(index, RankEnvironment.JOB_COMPLETION_INDEX, false));
    }
    if (given.isPresent()) {
      return flags.number(
          given.get(), 0, nodes - 1, "a whole number from 0 to %d".formatted(nodes - 1));
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
    flags.problem(
        "--node-rank is needed to tell the %d hosts apart: give it as 0 to %d, another on each host"
            .formatted(nodes, nodes - 1));
    return 0;
  }

  private Duration grace() {
    return flags
        .value(FlagTable.GRACE)
        .map(
            given ->
                Duration.ofSeconds(
                    flags.number(given, 0, 7, "a whole number of seconds from 0 to 7")))
        .orElse(LaunchSettings.DEFAULT_GRACE);
  }

  /** Returns what is to carry tensors between GPUs. */
  private Optional<String> backend() {
    Optional<Given> given = flags.value(FlagTable.BACKEND);
    given
        .filter(it -> !Set.of("auto", "gloo", "nccl").contains(it.value()))
        .ifPresent(it -> flags.wrong(it, "must be auto, gloo or nccl"));
    return given.map(Given::value);
  }

  private void checkRendezvous() {
    flags
        .value(FlagTable.RDZV_BACKEND)
        .filter(given -> !Set.of("static", "c10d").contains(given.value()))
        .ifPresent(given -> flags.wrong(given, "must be static or c10d"));
  }

  private Optional<String> value(String flag) {
    return flags.value(flag).map(Given::value);
  }
}
