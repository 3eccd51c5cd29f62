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
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The port on which Gloo listens for a group: hears members alone, and is closed once all ranks are
 * connected.
 *
 * <p>Gloo keeps the descriptor to itself. It is found among those of this process, as the socket
 * that listens at the group's address since Gloo was asked to, and replaced by one that does not.
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

  /** Ranks that are threads of one process begin to listen one after the other. */
  private static final Object ONE_BEGINS = new Object();

  private final InetAddress address;
  private final Set<String> before = new HashSet<>();
  private final List<Listening> begun = new ArrayList<>();

  /** A descriptor of this process that listens. */
  private record Listening(int descriptor, String socket, SocketName name) {}

  /** Prepares for a group that will listen at an address. */
  GlooListener(InetAddress address) {
    this.address = address;
  }

  InetAddress address() {
    return address;
  }

  /** Lets Gloo begin to listen, and notes where. */
  <T> T begins(Supplier<T> listening) {
    synchronized (ONE_BEGINS) {
      listening().forEach(it -> before.add(it.socket));
      T made = listening.get();
      look();
      return made;
    }
  }

  private void look() {
    listening().stream()
        .filter(it -> !before.contains(it.socket) && it.name.address().equals(address))
        .forEach(begun::add);
  }

  /**
   * Returns what the group listens on.
   *
   * @throws RendezvousException if it is not known: another part of this program may have begun to
   *     listen at the same address in the same instant, and must be left alone
   */
  private Listening own() {
    if (begun.isEmpty()) {
      look(); // Gloo may put it off until it connects
    }
    if (begun.size() != 1) {
      throw new RendezvousException(
          "the port of Gloo at %s is not found: %d ports were opened there at once; start again"
              .formatted(address.getHostAddress(), begun.size()));
    }
    return begun.getFirst();
  }

  /**
   * Returns who is connected to the group's port and is at no member's address: at most {@value
   * #MOST_STRANGERS}.
   */
  List<String> strangers(Roster roster) {
    try {
      Set<Integer> ports = begun.stream().map(it -> it.name.port()).collect(Collectors.toSet());
      return KernelSocket.all().stream()
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

  /** Returns the port on which the group listens. */
  int port() {
    return own().name.port();
  }

  /** Keeps everybody from the group's port who is on no member's host, from now on. */
  void hearOnly(Set<InetAddress> members) {
    MemberFilter.attach(own().descriptor, address, members);
  }

  /** Closes what the group listens on. */
  void close() {
    replace(own().descriptor);
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
   * Returns what this process listens on. Asks each socket: the kernel goes through its whole table
   * to list all of them.
   */
  private static List<Listening> listening() {
    var found = new ArrayList<Listening>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      for (Path link : all) {
        String target = target(link);
        int descriptor = Integer.parseInt(String.valueOf(link.getFileName()));
        if (target.startsWith("socket:") && isListening(descriptor)) {
          SocketName.of(descriptor)
              .ifPresent(name -> found.add(new Listening(descriptor, target, name)));
        }
      }
      return found;
    } catch (IOException e) {
      throw new RendezvousException("the descriptors of this process cannot be listed", e);
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
