package dev.flotilla.collective;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.flotilla.collective.CFunction.CError;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Closes the port on which Gloo listens once all ranks are connected: nobody else shall.
 *
 * <p>Gloo keeps the descriptor to itself. It is found among those of this process, as the socket
 * that listens since the group was formed, and replaced by one that does not.
 */
final class GlooListener {

  private static final String LISTENING = "0A";
  private static final int FAMILY_INET = 2;
  private static final int STREAM_CLOSED_ON_EXEC = 1 | 0x80000;

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

  /** Closes what the group listens on. */
  void close() {
    Map<String, Integer> sockets = listening();
    sockets.keySet().removeAll(before);
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

  /** Returns the descriptors of this process that listen, by the name of their socket. */
  private static Map<String, Integer> listening() {
    var found = new HashMap<String, Integer>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      Set<String> ports = listeningSockets();
      for (Path descriptor : all) {
        String target = target(descriptor);
        if (ports.contains(target)) {
          found.put(target, Integer.valueOf(String.valueOf(descriptor.getFileName())));
        }
      }
      return found;
    } catch (IOException e) {
      return new HashMap<>();
    }
  }

  private static String target(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (IOException e) {
      return "";
    }
  }

  private static Set<String> listeningSockets() throws IOException {
    var sockets = new HashSet<String>();
    for (String table : new String[] {"tcp", "tcp6"}) {
      Path file = Path.of("/proc/self/net", table);
      if (!Files.exists(file)) {
        continue;
      }
      for (String line : Files.readAllLines(file)) {
        String[] fields = line.strip().split(" +", -1);
        if (fields.length > 9 && fields[3].equals(LISTENING)) {
          sockets.add("socket:[" + fields[9] + "]");
        }
      }
    }
    return sockets;
  }
}
