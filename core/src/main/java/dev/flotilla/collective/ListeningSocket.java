package dev.flotilla.collective;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import dev.flotilla.collective.CFunction.CError;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.ByteOrder;

/**
 * Opens a listening socket whose descriptor native code can take over.
 *
 * <p>Left to itself, the native store listens on every interface; it takes a descriptor as its only
 * way to listen on one address, and Java's own sockets do not give theirs away.
 */
final class ListeningSocket {

  private static final int FAMILY_INET = 2;
  private static final int FAMILY_INET6 = 10;
  private static final int STREAM_CLOSED_ON_EXEC = 1 | 0x80000;
  private static final int LEVEL_SOCKET = 1;
  private static final int OPTION_REUSE_ADDRESS = 2;
  private static final int BACKLOG = 1024;

  private static final CFunction SOCKET = CFunction.find("socket", JAVA_INT, JAVA_INT, JAVA_INT);
  private static final CFunction SET_OPTION =
      CFunction.find("setsockopt", JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
  private static final CFunction BIND = CFunction.find("bind", JAVA_INT, ADDRESS, JAVA_INT);
  private static final CFunction LISTEN = CFunction.find("listen", JAVA_INT, JAVA_INT);
  private static final CFunction CLOSE = CFunction.find("close", JAVA_INT);

  private ListeningSocket() {}

  /**
   * Returns the descriptor of a socket that listens on one address.
   *
   * @throws CError if the address is taken, not of this host, or forbidden
   */
  static int open(InetAddress address, int port) {
    int family = address instanceof Inet4Address ? FAMILY_INET : FAMILY_INET6;
    int descriptor = SOCKET.call(family, STREAM_CLOSED_ON_EXEC, 0);
    try (var arena = Arena.ofConfined()) {
      // Ports of a run that has just ended are free again only with this option.
      var yes = arena.allocateFrom(JAVA_INT, 1);
      SET_OPTION.call(descriptor, LEVEL_SOCKET, OPTION_REUSE_ADDRESS, yes, (int) yes.byteSize());
      var name = socketAddress(arena, address, port);
      BIND.call(descriptor, name, (int) name.byteSize());
      LISTEN.call(descriptor, BACKLOG);
      return descriptor;
    } catch (CError e) {
      CLOSE.call(descriptor);
      throw e;
    }
  }

  private static MemorySegment socketAddress(Arena arena, InetAddress address, int port) {
    boolean isInet4 = address instanceof Inet4Address;
    var segment = arena.allocate(isInet4 ? 16 : 28, 4);
    segment.set(JAVA_SHORT, 0, (short) (isInet4 ? FAMILY_INET : FAMILY_INET6));
    segment.set(JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN), 2, (short) port);
    var bytes = address.getAddress();
    MemorySegment.copy(bytes, 0, segment, JAVA_BYTE, isInet4 ? 4 : 8, bytes.length);
    return segment;
  }
}
