package dev.flotilla.world;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Finds the place where ranks meet among the variables of an environment. */
final class MasterReader {

  private final Variables variables;
  private final RankSource.Kind kind;

  MasterReader(Variables variables, RankSource.Kind kind) {
    this.variables = variables;
    this.kind = kind;
  }

  /** Returns the meeting point; notes a problem when there is none. */
  Optional<Rendezvous> read() {
    Optional<String> file = variables.text(RankEnvironment.RENDEZVOUS_FILE);
    if (file.isPresent()) {
      return sharedFile(file.get());
    }
    if (variables.text(RankEnvironment.MASTER_ADDR).isPresent()) {
      return fromMasterAddress();
    }
    return switch (kind) {
      case PADDLE -> fromPaddle();
      case SLURM -> fromSlurm();
      case TORCH, OPEN_MPI, PMI -> none();
    };
  }

  private Optional<Rendezvous> sharedFile(String file) {
    if (file.isBlank() || !Path.of(file).isAbsolute()) {
      variables.wrong(RankEnvironment.RENDEZVOUS_FILE, "must be an absolute path");
      return Optional.empty();
    }
    return Optional.of(new Rendezvous.SharedFile(Path.of(file)));
  }

  private Optional<Rendezvous> none() {
    variables.missing(
        RankEnvironment.MASTER_ADDR,
        "several ranks need a meeting point; set it to the host of rank 0, and %s to a free port"
            .formatted(RankEnvironment.MASTER_PORT));
    return Optional.empty();
  }

  private Optional<Rendezvous> fromMasterAddress() {
    String address = variables.text(RankEnvironment.MASTER_ADDR).orElseThrow();
    OptionalInt port = masterPort(RankEnvironment.DEFAULT_MASTER_PORT);
    Optional<HostPort> host = HostPort.parse(address).filter(it -> it.port().isEmpty());
    if (host.isEmpty()) {
      variables.wrong(RankEnvironment.MASTER_ADDR, "must be a host name or address without port");
    }
    return host.flatMap(it -> tcp(it.host(), port));
  }

  private OptionalInt masterPort(int otherwise) {
    Optional<String> text = variables.text(RankEnvironment.MASTER_PORT);
    if (text.isEmpty()) {
      return OptionalInt.of(otherwise);
    }
    OptionalInt port = HostPort.port(text.get());
    if (port.isEmpty()) {
      variables.wrong(RankEnvironment.MASTER_PORT, "must be a port from 1 to 65535");
    }
    return port;
  }

  private Optional<Rendezvous> fromPaddle() {
    List<String> names =
        List.of(RankEnvironment.PADDLE_MASTER, RankEnvironment.PADDLE_TRAINER_ENDPOINTS);
    Optional<String> endpoints = variables.text(names);
    if (endpoints.isEmpty()) {
      return none();
    }
    Optional<HostPort> first = HostPort.parse(endpoints.get().split(",", -1)[0]);
    if (first.isEmpty() || first.get().port().isEmpty()) {
      variables.wrong(variables.nameOf(names), "must start with host:port");
      return Optional.empty();
    }
    return tcp(first.get().host(), first.get().port());
  }

  private Optional<Rendezvous> fromSlurm() {
    List<String> names =
        List.of(RankEnvironment.SLURM_STEP_NODELIST, RankEnvironment.SLURM_JOB_NODELIST);
    Optional<String> nodes = variables.text(names);
    if (nodes.isEmpty()) {
      return none();
    }
    OptionalInt port = slurmPort();
    Optional<String> host = Slurm.firstHost(nodes.get());
    if (host.isEmpty()) {
      variables.wrong(variables.nameOf(names), "must be a list of hosts such as host[5-9,12]");
    }
    return host.flatMap(it -> tcp(it, port));
  }

  private OptionalInt slurmPort() {
    if (variables.isSet(List.of(RankEnvironment.MASTER_PORT))) {
      return masterPort(RankEnvironment.DEFAULT_MASTER_PORT);
    }
    Optional<String> job = variables.text(RankEnvironment.SLURM_JOB_ID);
    if (job.isEmpty()) {
      variables.missing(
          RankEnvironment.SLURM_JOB_ID,
          "the port is derived from it; set it, or " + RankEnvironment.MASTER_PORT);
      return OptionalInt.empty();
    }
    OptionalInt port = Slurm.portOf(job.get());
    if (port.isEmpty()) {
      variables.wrong(RankEnvironment.SLURM_JOB_ID, "must be a whole number");
    }
    return port;
  }

  private Optional<Rendezvous> tcp(String host, OptionalInt port) {
    boolean agentStore =
        variables.text(RankEnvironment.USE_AGENT_STORE).orElse("").equalsIgnoreCase("true");
    return port.isPresent()
        ? Optional.of(new Rendezvous.Tcp(host, port.getAsInt(), agentStore))
        : Optional.empty();
  }
}
