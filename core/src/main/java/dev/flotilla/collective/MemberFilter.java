package dev.flotilla.collective;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.flotilla.collective.CFunction.CError;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * Has the kernel drop what comes to a port from anywhere but the members' hosts.
 *
 * <p>Gloo takes everybody who connects, and ends the process when it has no descriptor left for the
 * next one. So strangers must not get that far. The filter is one of Berkeley's: it looks at the
 * sender's address of each packet, and connections that are taken inherit it.
 */
final class MemberFilter {

  private static final CFunction SET_OPTION =
      CFunction.find("setsockopt", JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);

  private static final int LEVEL_OF_SOCKETS = 1;
  private static final int ATTACH_FILTER = 26;
  private static final int BYTES_OF_INSTRUCTION = 8;
  private static final int BYTES_OF_PROGRAM = 16;
  private static final int MOST_INSTRUCTIONS = 4096;

  private static final int LOAD_WORD = 0x20;
  private static final int JUMP_IF_EQUAL = 0x15;
  private static final int RETURN = 0x06;

  /** Where the kernel's filters find the header of the network's layer. */
  private static final int NETWORK_HEADER = -0x100000;

  private static final int SENDER_IN_IPV4 = 12;
  private static final int SENDER_IN_IPV6 = 8;

  private record Instruction(int code, int ifTrue, int ifFalse, int operand) {}

  private MemberFilter() {}

  /**
   * Lets a listening socket hear members alone.
   *
   * @param local address on which it listens
   * @param members addresses from which members connect
   * @return whether it does; where the kernel cannot, everybody is heard as before
   */
  static boolean attach(int descriptor, InetAddress local, Collection<InetAddress> members) {
    List<Instruction> program = program(local.getAddress().length, members);
    if (program.size() > MOST_INSTRUCTIONS) {
      return false;
    }
    try (var arena = Arena.ofConfined()) {
      MemorySegment header = arena.allocate(BYTES_OF_PROGRAM, BYTES_OF_INSTRUCTION);
      header.set(JAVA_SHORT, 0, (short) program.size());
      header.set(ADDRESS, BYTES_OF_INSTRUCTION, written(program, arena));
      SET_OPTION.call(descriptor, LEVEL_OF_SOCKETS, ATTACH_FILTER, header, BYTES_OF_PROGRAM);
      return true;
    } catch (CError e) {
      return false;
    }
  }

  private static MemorySegment written(List<Instruction> program, Arena arena) {
    MemorySegment code =
        arena.allocate((long) program.size() * BYTES_OF_INSTRUCTION, BYTES_OF_INSTRUCTION);
    for (int i = 0; i < program.size(); i++) {
      Instruction it = program.get(i);
      long at = (long) i * BYTES_OF_INSTRUCTION;
      code.set(JAVA_SHORT, at, (short) it.code());
      code.set(JAVA_BYTE, at + 2, (byte) it.ifTrue());
      code.set(JAVA_BYTE, at + 3, (byte) it.ifFalse());
      code.set(JAVA_INT, at + 4, it.operand());
    }
    return code;
  }

  /** Compares the sender with one member after the other; an address has one word, or four. */
  private static List<Instruction> program(int length, Collection<InetAddress> members) {
    var program = new ArrayList<Instruction>();
    int words = length / 4;
    int sender = NETWORK_HEADER + (words == 1 ? SENDER_IN_IPV4 : SENDER_IN_IPV6);
    for (InetAddress member : members) {
      byte[] address = member.getAddress();
      for (int word = 0; address.length == length && word < words; word++) {
        int rest = 2 * (words - word) - 1;
        program.add(new Instruction(LOAD_WORD, 0, 0, sender + 4 * word));
        program.add(
            new Instruction(JUMP_IF_EQUAL, 0, rest, ByteBuffer.wrap(address).getInt(4 * word)));
      }
      if (address.length == length) {
        program.add(new Instruction(RETURN, 0, 0, -1));
      }
    }
    program.add(new Instruction(RETURN, 0, 0, 0));
    return program;
  }
}
