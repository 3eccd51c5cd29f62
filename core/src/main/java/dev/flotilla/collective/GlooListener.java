package dev.flotilla.collective;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.flotilla.collective.CFunction.CError;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Closes the port on which Gloo listens once all ranks are connected: nobody else shall.
 *
 * <p>Gloo keeps the descriptor to itself. It is found among those of this process, as the socket
 * that listens since the group was formed, and replaced by one that does not.
 */
final class GlooListener {

  private static final int MOST_STRANGERS = 4;
  private static final int FAMILY_INET = 2;
  private static final int STREAM_CLOSED_ON_EXEC = 1 | 0x80000;

  private static final int LEVEL_OF_SOCKETS = 1;
  private static final int IS_LISTENING = 30;

  private static final CFunction GET_OPTION =
      CFunction.find("getsockopt", JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS);
  private static final CFunction SOCKET = CFunction.find("socket", JAVA_INT, JAVA_INT, JAVA_INT);
  private static final CFunction DUP2 = CFunction.find("dup2", JAVA_INT, JAVA_INT);
  private static final CFunction CLOSE = CFunction.find("close", JAVA_INT);

  private final Set<String> before;

  private GlooListener(Set<String> before) {
    this.before = before;
  }

  /** Notes what this process listens on before a group is formed. */
  static GlooListener beforeForming() {
    return new GlooListener(listening().keySet());
  }

  /**
   * Returns who is connected to the group's port and is at no member's address: at most {@value
   * #MOST_STRANGERS}.
   */
  List<String> strangers(Roster roster) {
    try {
      Set<String> own = sockets().keySet();
      List<KernelSocket> all = KernelSocket.all();
      Set<Integer> ports =
          all.stream()
              .filter(it -> it.isListening() && own.contains(it.name()))
              .map(KernelSocket::port)
              .collect(Collectors.toSet());
      return all.stream()
          .filter(it -> !it.isListening() && ports.contains(it.port()))
          .map(it -> it.remote().getHostAddress())
          .filter(address -> !isMember(address, roster))
          .distinct()
          .limit(MOST_STRANGERS)
          .toList();
    } catch (IOException e) {
      return List.of();
    }
  }

  /** What is carried to this host comes from there, whichever address stands for its own. */
  private static boolean isMember(String address, Roster roster) {
    return roster.addresses().contains(address)
        || (roster.isOnLoopback() && address.equals("127.0.0.1"));
  }

  /**
   * Returns the port at an address on which the group listens.
   *
   * @throws RendezvousException if there is none, or several
   */
  int port(InetAddress address) {
    try {
      Set<String> own = sockets().keySet();
      List<Integer> ports =
          KernelSocket.all().stream()
              .filter(it -> it.isListening() && own.contains(it.name()))
              .filter(it -> it.local().equals(address))
              .map(KernelSocket::port)
              .toList();
      if (ports.size() != 1) {
        throw new RendezvousException(
            "the port of Gloo at %s is not found among %s"
                .formatted(address.getHostAddress(), ports));
      }
      return ports.getFirst();
    } catch (IOException e) {
      throw new RendezvousException("the kernel's list of sockets cannot be read", e);
    }
  }

  private Map<String, Integer> sockets() {
    Map<String, Integer> sockets = listening();
    sockets.keySet().removeAll(before);
    return sockets;
  }

  /**
   * Keeps everybody from the group's port who is on no member's host, from now on.
   *
   * @param local address on which the group listens
   */
  void hearOnly(Set<InetAddress> members, InetAddress local) {
    Map<String, Integer> sockets = sockets();
    if (sockets.size() == 1) {
      sockets.values().forEach(it -> MemberFilter.attach(it, local, members));
    }
  }

  /** Closes what the group listens on. */
  void close() {
    Map<String, Integer> sockets = sockets();
    // Two would mean that somebody else in this process has begun to listen: not ours to close.
    if (sockets.size() == 1) {
      sockets.values().forEach(GlooListener::replace);
    }
  }

  private static void replace(int descriptor) {
    int idle = SOCKET.call(FAMILY_INET, STREAM_CLOSED_ON_EXEC, 0);
    try {
      DUP2.call(idle, descriptor);
    } catch (CError e) {
      throw new IllegalStateException("the port of Gloo cannot be closed", e);
    } finally {
      CLOSE.call(idle);
    }
  }

  /**
   * Returns the descriptors of this process that listen, by the name of their socket. Asks each
   * socket: the kernel goes through its whole table to list all of them.
   */
  private static Map<String, Integer> listening() {
    var found = new HashMap<String, Integer>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      for (Path link : all) {
        String target = target(link);
        int descriptor = Integer.parseInt(String.valueOf(link.getFileName()));
        if (target.startsWith("socket:") && isListening(descriptor)) {
          found.put(target, descriptor);
        }
      }
      return found;
    } catch (IOException e) {
      return new HashMap<>();
    }
  }

  private static boolean isListening(int descriptor) {
    try (var arena = Arena.ofConfined()) {
      MemorySegment answer = arena.allocate(JAVA_INT);
      MemorySegment size = arena.allocateFrom(JAVA_INT, (int) JAVA_INT.byteSize());
      GET_OPTION.call(descriptor, LEVEL_OF_SOCKETS, IS_LISTENING, answer, size);
      return answer.get(JAVA_INT, 0) != 0;
    } catch (CError closedMeanwhile) {
      return false;
    }
  }

  private static String target(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (IOException e) {
      return "";
    }
  }
}
