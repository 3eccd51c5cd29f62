package dev.flotilla.launch;

import dev.flotilla.text.Secrets;
import dev.flotilla.world.HostPort;
import dev.flotilla.world.JobDescription;
import dev.flotilla.world.RankEnvironment;
import dev.flotilla.world.Rendezvous;
import dev.flotilla.world.World;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.stream.IntStream;

/** Gives every rank of this host its environment, and starts it. */
final class RankStarter {

  private static final String LOOPBACK = "127.0.0.1";

  /** Where Fleet's endpoints begin; Flotilla's ranks do not listen there. */
  private static final int FIRST_ENDPOINT_PORT = 6070;

  private final LaunchSettings settings;
  private final MeetingFolder folder;
  private final Map<String, String> inherited;
  private final OptionalInt terminalColumns;
  private final int cores;
  private final Optional<InetAddress> alias;
  private final int masterPort;
  private final String launchId = UUID.randomUUID().toString();

  RankStarter(
      LaunchSettings settings,
      MeetingFolder folder,
      Map<String, String> inherited,
      OptionalInt terminalColumns,
      int cores,
      Optional<InetAddress> alias) {
    this.settings = settings;
    this.folder = folder;
    this.inherited = inherited;
    this.terminalColumns = terminalColumns;
    this.cores = cores;
    this.alias = alias;
    this.masterPort = MasterPort.choose(settings);
  }

  String launchId() {
    return launchId;
  }

  /** Returns the secrets that ranks inherit. */
  Secrets secrets() {
    return new Secrets(inherited);
  }

  int masterPort() {
    return masterPort;
  }

  /** Starts all ranks of this host; the calling thread must outlive them. */
  void startInto(RankGroup group, RankCommand command, Console console, int attempt)
      throws IOException {
    for (int local = 0; local < settings.processes(); local++) {
      var environment = new HashMap<>(inherited);
      RankEnvironment.forget(environment);
      environment.putAll(variables(local, attempt));
      group.add(
          RankProcess.start(
              world(local, attempt),
              command.commandLine(attempt > 0),
              environment,
              new RankLog(settings.logDir().resolve("workerlog." + local), attempt),
              folder.errorFile(local, attempt),
              console));
    }
  }

  /** Returns what a rank gets beyond the inherited environment. */
  Map<String, String> variables(int local, int attempt) {
    Map<String, String> variables = RankEnvironment.forRank(world(local, attempt), job(attempt));
    variables.put(
        RankEnvironment.OMP_NUM_THREADS,
        inherited.getOrDefault(
            RankEnvironment.OMP_NUM_THREADS,
            Integer.toString(Math.max(1, cores / settings.processes()))));
    variables.put(
        RankEnvironment.MALLOC_ARENA_MAX,
        inherited.getOrDefault(RankEnvironment.MALLOC_ARENA_MAX, RankEnvironment.MALLOC_ARENAS));
    variables.put(RankEnvironment.ERROR_FILE, folder.errorFile(local, attempt).toString());
    variables.put(RankEnvironment.CONTROL_FOLDER, folder.path().toString());
    variables.put(RankEnvironment.LAUNCHER_PID, Long.toString(ProcessHandle.current().pid()));
    variables.put(RankEnvironment.LAUNCH_ID, launchId);
    if (settings.gpus().isEmpty()) {
      variables.put(
          RankEnvironment.GLIBC_TUNABLES,
          inherited.getOrDefault(RankEnvironment.GLIBC_TUNABLES, RankEnvironment.JOINED_BLOCKS));
    } else {
      variables.put(RankEnvironment.GPUS, HostGpus.text(settings.gpus()));
    }
    settings.backend().ifPresent(name -> variables.put(RankEnvironment.BACKEND, name));
    alias.ifPresent(
        address -> {
          variables.put(RankEnvironment.RELAY_ADDRESS, address.getHostAddress());
          // NCCL would connect the hosts by itself.
          variables.put(RankEnvironment.BACKEND, "gloo");
        });
    if (settings.policy().checksCollectives()) {
      variables.put(RankEnvironment.CHECK_COLLECTIVES, "1");
    }
    if (local == 0 && terminalColumns.isPresent()) {
      variables.put(RankEnvironment.TERMINAL, Integer.toString(terminalColumns.getAsInt()));
    }
    return variables;
  }

  /** Returns the lines of the endpoints file: host and rank of every rank whose host is known. */
  List<String> endpointLines() {
    var lines = new ArrayList<String>();
    lines.add("# host:rank of the ranks of job " + settings.jobId());
    if (settings.hosts().isEmpty()) {
      String host = HostName.local();
      IntStream.range(0, settings.processes())
          .forEach(local -> lines.add(host + ":" + rankOf(local)));
    } else {
      IntStream.range(0, settings.worldSize())
          .forEach(rank -> lines.add(hostOf(rank) + ":" + rank));
    }
    return lines;
  }

  int rankOf(int local) {
    return settings.nodeRank() * settings.processes() + local;
  }

  private World world(int local, int attempt) {
    Rendezvous rendezvous =
        settings.isOneHost()
            ? new Rendezvous.SharedFile(folder.rendezvousFile(attempt))
            : new Rendezvous.Tcp(masterAddress(), masterPort, false);
    return new World(
        rankOf(local),
        settings.worldSize(),
        local,
        settings.processes(),
        settings.nodeRank(),
        settings.nodes(),
        rendezvous);
  }

  private JobDescription job(int attempt) {
    Path logDir = settings.logDir().toAbsolutePath();
    return new JobDescription(
        settings.jobId(),
        settings.role(),
        masterAddress(),
        masterPort,
        endpoints(),
        logDir.toString(),
        attempt,
        settings.policy().maxRestarts());
  }

  private List<String> endpoints() {
    if (!settings.isOneHost() && settings.hosts().isEmpty()) {
      return List.of();
    }
    return IntStream.range(0, settings.worldSize())
        .mapToObj(
            rank -> HostPort.join(hostOf(rank), FIRST_ENDPOINT_PORT + rank % settings.processes()))
        .toList();
  }

  private String hostOf(int rank) {
    return settings.hosts().isEmpty()
        ? masterAddress()
        : settings.hosts().get(rank / settings.processes());
  }

  private String masterAddress() {
    return settings.masterAddress().orElse(LOOPBACK);
  }
}
