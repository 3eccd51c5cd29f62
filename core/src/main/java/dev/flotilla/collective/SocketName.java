package dev.flotilla.collective;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.flotilla.collective.CFunction.CError;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;
import java.util.Optional;

/** Where a socket of this process is bound to. */
record SocketName(InetAddress address, int port) {

  private static final CFunction GET_NAME =
      CFunction.find("getsockname", JAVA_INT, ADDRESS, ADDRESS);

  private static final int FAMILY_INET = 2;
  private static final int FAMILY_INET6 = 10;
  private static final int MOST_BYTES = 128;
  private static final int PORT_AT = 2;
  private static final ValueLayout.OfShort PORT = JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN);

  /** Asks the kernel; empty where the descriptor is closed meanwhile, or of another family. */
  static Optional<SocketName> of(int descriptor) {
    try (var arena = Arena.ofConfined()) {
      MemorySegment name = arena.allocate(MOST_BYTES, Integer.BYTES);
      GET_NAME.call(descriptor, name, arena.allocateFrom(JAVA_INT, MOST_BYTES));
      return switch (name.get(JAVA_SHORT, 0)) {
        case FAMILY_INET -> Optional.of(read(name, 4, 4));
        case FAMILY_INET6 -> Optional.of(read(name, 8, 16));
        default -> Optional.empty();
      };
    } catch (CError closedMeanwhile) {
      return Optional.empty();
    }
  }

  /** An IPv4 address inside of an IPv6 one is returned as what it is. */
  private static SocketName read(MemorySegment name, long at, int length) {
    try {
      var bytes = name.asSlice(at, length).toArray(JAVA_BYTE);
      return new SocketName(
          InetAddress.getByAddress(bytes), Short.toUnsignedInt(name.get(PORT, PORT_AT)));
    } catch (UnknownHostException e) {
      throw new IllegalStateException("the kernel names no address", e);
    }
  }
}
