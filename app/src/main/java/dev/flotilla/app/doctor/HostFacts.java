package dev.flotilla.app.doctor;

import java.util.List;
import java.util.Optional;

/** What the checks of a host look at, as it was read. */
public final class HostFacts {

  private HostFacts() {}

  /**
   * The job that is to run.
   *
   * @param ranks on this host
   * @param nodes number of hosts
   * @param nodeRank number of this host
   * @param masterAddress host of rank 0, where it was given
   * @param masterPort port there; 0 where none was given
   */
  public record Job(
      int ranks, int nodes, int nodeRank, Optional<String> masterAddress, int masterPort) {

    boolean hasSeveralHosts() {
      return nodes > 1;
    }
  }

  /**
   * Where runs go.
   *
   * @param folder the folder, or the nearest one that exists
   * @param freeBytes what it has room for
   * @param type of its file system
   * @param isWritable whether files can be made there
   */
  public record Disk(String folder, long freeBytes, String type, boolean isWritable) {}

  /**
   * Memory.
   *
   * @param total bytes of the host
   * @param available bytes that processes can still get
   * @param limit bytes that the control group allows; 0 for no limit
   * @param used bytes that the control group uses
   */
  public record Memory(long total, long available, long limit, long used) {

    /** Returns the bytes that ranks can still get. */
    long room() {
      return limit == 0 ? available : Math.min(available, Math.max(0, limit - used));
    }
  }

  /**
   * A network interface that is up.
   *
   * @param name such as eth0
   * @param isLoopback whether it leads nowhere else
   * @param addresses of this host there
   * @param megabits its rate; 0 where it does not say
   */
  public record Network(String name, boolean isLoopback, List<String> addresses, int megabits) {

    /** Copies the list. */
    public Network {
      addresses = List.copyOf(addresses);
    }
  }

  /**
   * The host's name.
   *
   * @param name as the kernel has it
   * @param resolved addresses that it resolves to; empty where it does not
   */
  public record Name(String name, List<String> resolved) {

    /** Copies the list. */
    public Name {
      resolved = List.copyOf(resolved);
    }
  }

  /**
   * GPUs.
   *
   * @param driver version of NVIDIA's driver; empty without one
   * @param devices number of GPUs
   * @param isCudaBuild whether this libtorch can use them
   */
  public record Gpus(Optional<String> driver, int devices, boolean isCudaBuild) {}

  /**
   * The native libraries.
   *
   * @param version of libtorch, or what is known of it
   * @param isUnpacked whether libtorch is ready
   * @param folder where they are
   * @param problem why the folder cannot be used; empty if it can
   */
  public record Natives(
      String version, boolean isUnpacked, String folder, Optional<String> problem) {}
}
