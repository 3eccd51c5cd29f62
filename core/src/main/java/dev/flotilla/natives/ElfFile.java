package dev.flotilla.natives;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/** What a shared library of 64 bits says of itself: the libraries it needs, the names it gives. */
public final class ElfFile {

  private static final int MAGIC = 0x464c457f;
  private static final int SECTION_DYNAMIC = 6;
  private static final int SECTION_SYMBOLS = 11;
  private static final int TAG_NEEDED = 1;

  private record Section(int type, long offset, long size, int link) {}

  private final ByteBuffer bytes;
  private final List<Section> sections = new ArrayList<>();

  private ElfFile(ByteBuffer bytes) {
    this.bytes = bytes;
    long table = bytes.getLong(40);
    int size = bytes.getShort(58) & 0xffff;
    int count = bytes.getShort(60) & 0xffff;
    for (int i = 0; i < count; i++) {
      int at = Math.toIntExact(table + (long) i * size);
      sections.add(
          new Section(
              bytes.getInt(at + 4),
              bytes.getLong(at + 24),
              bytes.getLong(at + 32),
              bytes.getInt(at + 40)));
    }
  }

  /**
   * Reads a library's tables.
   *
   * @throws IOException if it cannot be read, is no such library, or is cut off
   */
  public static ElfFile read(Path file) throws IOException {
    try (var channel = FileChannel.open(file, StandardOpenOption.READ)) {
      var bytes = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size());
      bytes.order(ByteOrder.LITTLE_ENDIAN);
      if (bytes.limit() < 64 || bytes.getInt(0) != MAGIC) {
        throw new IOException(file + " is not a shared library");
      }
      return new ElfFile(bytes);
    } catch (IndexOutOfBoundsException | ArithmeticException cutOff) {
      throw new IOException(file + " is cut off", cutOff);
    }
  }

  /** Returns the libraries that the loader looks for with this one. */
  public List<String> needed() {
    List<String> needed = new ArrayList<>();
    for (var section : sections) {
      if (section.type() == SECTION_DYNAMIC) {
        for (long at = section.offset(); at < section.offset() + section.size(); at += 16) {
          if (bytes.getLong((int) at) == TAG_NEEDED) {
            needed.add(text(section.link(), bytes.getLong((int) at + 8)));
          }
        }
      }
    }
    return needed;
  }

  /** Returns the functions and objects that other libraries may use. */
  public List<String> definedSymbols() {
    List<String> names = new ArrayList<>();
    for (var section : sections) {
      if (section.type() == SECTION_SYMBOLS) {
        for (long at = section.offset(); at < section.offset() + section.size(); at += 24) {
          boolean isDefined = bytes.getShort((int) at + 6) != 0;
          if (isDefined) {
            names.add(text(section.link(), bytes.getInt((int) at)));
          }
        }
      }
    }
    return names;
  }

  private String text(int table, long offset) {
    int start = Math.toIntExact(sections.get(table).offset() + offset);
    int end = start;
    while (bytes.get(end) != 0) {
      end++;
    }
    var text = new byte[end - start];
    bytes.get(start, text);
    return new String(text, StandardCharsets.UTF_8);
  }
}
