package dev.flotilla.app;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A program that writes down what TCP carries through the network it runs in, loopback left out:
 * {@code FILE PORT}, with port 0 for all. Needs root. The file exists once nothing more can be
 * missed.
 */
public final class Capture {

  private static final int FAMILY_PACKET = 17;
  private static final int RAW = 3;
  private static final int EVERYTHING_IN_NETWORK_ORDER = 0x0300;
  private static final int LONGEST = 1 << 17;

  /** One packet that carried something. */
  static final class Packet {

    private final int from;
    private final int to;
    private final byte[] content;

    private Packet(int from, int to, byte[] content) {
      this.from = from;
      this.to = to;
      this.content = content;
    }

    int from() {
      return from;
    }

    int to() {
      return to;
    }

    void writeTo(ByteArrayOutputStream out) {
      out.writeBytes(content);
    }
  }

  private Capture() {}

  /** Writes until it is killed. */
  public static void main(String[] arguments) throws Throwable {
    int port = Integer.parseInt(arguments[1]);
    MethodHandle receive = function("recv", JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT);
    int socket =
        (int)
            function("socket", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT)
                .invokeExact(FAMILY_PACKET, RAW, EVERYTHING_IN_NETWORK_ORDER);
    if (socket < 0) {
      throw new IOException("no packet can be captured here; that needs root");
    }
    try (var arena = Arena.ofConfined();
        var out =
            new DataOutputStream(
                new BufferedOutputStream(Files.newOutputStream(Path.of(arguments[0]))))) {
      MemorySegment buffer = arena.allocate(LONGEST);
      while (true) {
        long length = (long) receive.invokeExact(socket, buffer, (long) LONGEST, 0);
        if (length > 0) {
          byte[] bytes = buffer.asSlice(0, length).toArray(JAVA_BYTE);
          write(parse(bytes).filter(it -> port == 0 || it.from == port || it.to == port), out);
        }
      }
    }
  }

  private static void write(Optional<Packet> packet, DataOutputStream out) throws IOException {
    if (packet.isPresent()) {
      out.writeInt(packet.get().from);
      out.writeInt(packet.get().to);
      out.writeInt(packet.get().content.length);
      out.write(packet.get().content);
      out.flush();
    }
  }

  private static MethodHandle function(
      String name, MemoryLayout result, MemoryLayout... parameters) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(
        linker.defaultLookup().findOrThrow(name), FunctionDescriptor.of(result, parameters));
  }

  /** Takes Ethernet, IPv4 and TCP off. */
  private static Optional<Packet> parse(byte[] frame) {
    var bytes = ByteBuffer.wrap(frame);
    boolean staysOnTheHost = frame.length > 26 && frame[26] == 127;
    if (frame.length < 54 || bytes.getShort(12) != 0x0800 || frame[23] != 6 || staysOnTheHost) {
      return Optional.empty();
    }
    int tcp = 14 + 4 * (frame[14] & 15);
    int start = tcp + 4 * ((frame[tcp + 12] >> 4) & 15);
    int end = 14 + Short.toUnsignedInt(bytes.getShort(16));
    if (start >= end || end > frame.length) {
      return Optional.empty();
    }
    var content = new byte[end - start];
    bytes.get(start, content);
    return Optional.of(
        new Packet(
            Short.toUnsignedInt(bytes.getShort(tcp)),
            Short.toUnsignedInt(bytes.getShort(tcp + 2)),
            content));
  }

  /** Reads what was written so far. */
  static List<Packet> read(Path file) throws IOException {
    var packets = new ArrayList<Packet>();
    try (var in = new DataInputStream(Files.newInputStream(file))) {
      while (true) {
        packets.add(new Packet(in.readInt(), in.readInt(), in.readNBytes(in.readInt())));
      }
    } catch (EOFException e) {
      return packets;
    }
  }
}
