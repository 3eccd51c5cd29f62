package dev.flotilla.app.doctor;

import dev.flotilla.app.doctor.HostFacts.Job;
import dev.flotilla.app.doctor.HostFacts.Name;
import dev.flotilla.app.doctor.HostFacts.Network;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Judges what was read of a host's network; each check is a function of that alone. */
public final class NetworkChecks {

  private NetworkChecks() {}

  /** Looks at the interfaces that are up. */
  public static Finding interfaces(List<Network> networks, Job job) {
    String seen = networks.stream().map(NetworkChecks::text).collect(Collectors.joining(", "));
    boolean leadsOut = networks.stream().anyMatch(it -> !it.isLoopback());
    if (leadsOut || !job.hasSeveralHosts()) {
      return Finding.ok("interfaces", seen.isEmpty() ? "none is up" : seen);
    }
    return Finding.error(
        "interfaces",
        seen.isEmpty() ? "none is up" : "only " + seen,
        "this host cannot reach the other %d".formatted(job.nodes() - 1),
        "bring a network interface up (ip link); a container may need --network host");
  }

  private static String text(Network network) {
    return "%s %s%s"
        .formatted(
            network.name(),
            String.join(" ", network.addresses()),
            network.megabits() > 0 ? " (%d Mbit/s)".formatted(network.megabits()) : "");
  }

  /** Looks at what the host's own name leads to. */
  public static Finding names(Name name, List<Network> networks, Job job) {
    String seen =
        name.resolved().isEmpty()
            ? "%s resolves to nothing".formatted(name.name())
            : "%s is %s".formatted(name.name(), String.join(", ", name.resolved()));
    if (!job.hasSeveralHosts()) {
      return Finding.ok("names", seen);
    }
    String fix =
        "give --master-addr as an address instead of a name, or write the address of this host"
            + " beside its name into /etc/hosts";
    if (name.resolved().isEmpty()) {
      return Finding.warning("names", seen, "other hosts may not find it by its name either", fix);
    }
    boolean isOurs =
        networks.stream()
            .filter(it -> !it.isLoopback())
            .anyMatch(it -> it.addresses().stream().anyMatch(name.resolved()::contains));
    return isOurs
        ? Finding.ok("names", seen)
        : Finding.warning(
            "names",
            seen,
            name.resolved().stream().allMatch(it -> it.startsWith("127."))
                ? "that is the loopback interface: a master named so listens where no other host"
                    + " comes"
                : "that is none of this host's addresses: others would look for it elsewhere",
            fix);
  }

  /**
   * Looks at the address where ranks meet.
   *
   * @param resolved addresses that the master's name resolves to here
   */
  public static Finding master(Job job, List<String> resolved, List<Network> networks) {
    if (!job.hasSeveralHosts()) {
      return Finding.ok("master", "ranks of one host meet through a file");
    }
    String address = job.masterAddress().orElse("");
    if (resolved.isEmpty()) {
      return Finding.error(
          "master",
          "%s resolves to nothing here".formatted(address),
          "this host does not find rank 0",
          "give --master-addr as an address, or a name that all hosts know");
    }
    String seen = "%s is %s".formatted(address, String.join(", ", resolved));
    boolean isLoopback =
        resolved.stream().allMatch(it -> it.startsWith("127.") || it.equals("::1"));
    if (isLoopback) {
      return Finding.error(
          "master",
          seen,
          "that is the loopback interface, where no other host comes",
          "give --master-addr as the address that the others reach host 0 by");
    }
    boolean isHere =
        networks.stream().anyMatch(it -> it.addresses().stream().anyMatch(resolved::contains));
    return job.nodeRank() == 0 && !isHere
        ? Finding.error(
            "master",
            seen,
            "host 0 has no such address, so rank 0 cannot listen there",
            "start this one with another --node-rank, or give an address of this host: "
                + networks.stream()
                    .filter(it -> !it.isLoopback())
                    .flatMap(it -> it.addresses().stream())
                    .collect(Collectors.joining(", ")))
        : Finding.ok("master", seen);
  }

  /**
   * Looks at the ports that rank 0 and the launcher of its host listen on.
   *
   * @param busy the first of them that something else has; empty if none is
   */
  public static Finding ports(Job job, Optional<Integer> busy) {
    if (!job.hasSeveralHosts() || job.nodeRank() > 0) {
      return Finding.ok("ports", "this host needs no certain one");
    }
    String both = "%d and %d".formatted(job.masterPort(), job.masterPort() + 1);
    return busy.map(
            port ->
                Finding.error(
                    "ports",
                    "port %d is taken".formatted(port),
                    "rank 0 and its launcher listen on " + both,
                    "end what listens there (ss -ltnp), or give all hosts another --master-port"))
        .orElseGet(() -> Finding.ok("ports", both + " are free"));
  }
}
