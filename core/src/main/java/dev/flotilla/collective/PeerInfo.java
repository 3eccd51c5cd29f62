package dev.flotilla.collective;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;

/**
 * What the ranks know about one of them.
 *
 * @param rank number of the rank
 * @param host name of its host
 * @param pid number of its process
 * @param address address of its collectives
 * @param processSpace which numbering of processes the pid belongs to; containers have their own
 * @param gpu unique name of the GPU that it offers to NCCL; empty for none
 * @param from addresses from which it may connect: all of its host
 */
record PeerInfo(
    int rank,
    String host,
    long pid,
    String address,
    String processSpace,
    String gpu,
    Set<String> from) {

  /** Returns this process as the given rank. */
  static PeerInfo here(int rank, InetAddress address, String gpu) {
    return new PeerInfo(
        rank,
        hostName(),
        ProcessHandle.current().pid(),
        address.getHostAddress(),
        ownProcessSpace(),
        gpu,
        LocalAddress.all());
  }

  static PeerInfo parse(String text) {
    var fields = text.split("\t", -1);
    return new PeerInfo(
        Integer.parseInt(fields[0]),
        fields[1],
        Long.parseLong(fields[2]),
        fields[3],
        fields[4],
        fields[5],
        Set.of(fields[6].split(" ", -1)));
  }

  String format() {
    return String.join(
        "\t",
        Integer.toString(rank),
        host,
        Long.toString(pid),
        address,
        processSpace,
        gpu,
        String.join(" ", new TreeSet<>(from)));
  }

  /** Returns "rank 1 on hostB (pid 4711)". */
  @Override
  public String toString() {
    return "rank %d on %s (pid %d)".formatted(rank, host, pid);
  }

  /** Tells whether the pid of another rank means something in this process. */
  boolean sharesProcessesWith(PeerInfo other) {
    return host.equals(other.host) && processSpace.equals(other.processSpace);
  }

  static String hostName() {
    try {
      return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
    } catch (IOException e) {
      return hostNameByResolver();
    }
  }

  private static String hostNameByResolver() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "unknown host";
    }
  }

  private static String ownProcessSpace() {
    try {
      return Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString();
    } catch (IOException | UnsupportedOperationException e) {
      return "process " + ProcessHandle.current().pid();
    }
  }
}
