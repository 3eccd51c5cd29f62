package dev.flotilla.checkpoint;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.OptionalLong;

/** Reads the bytes of a file's header without holding them, as often as asked. */
final class HeaderStream extends InputStream {

  private static final int WINDOW = 8192;

  private final FileChannel channel;
  private final long end;
  private long position;

  HeaderStream(FileChannel channel, long begin, long end) {
    this.channel = channel;
    this.position = begin;
    this.end = end;
  }

  @Override
  public int read() throws IOException {
    var one = new byte[1];
    return read(one, 0, 1) == 1 ? Byte.toUnsignedInt(one[0]) : -1;
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    return read(ByteBuffer.wrap(target, offset, (int) Math.min(length, end - position)));
  }

  private int read(ByteBuffer target) throws IOException {
    int count = position < end ? channel.read(target, position) : -1;
    position += Math.max(count, 0);
    return count;
  }

  /** Reads to the end and returns the place in the file of the first byte that is not UTF-8. */
  OptionalLong firstByteThatIsNotUtf8() throws IOException {
    var decoder =
        StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPORT)
            .onUnmappableCharacter(CodingErrorAction.REPORT);
    var bytes = ByteBuffer.allocate(WINDOW);
    var text = CharBuffer.allocate(WINDOW);
    boolean atEnd = false;
    while (!atEnd) {
      bytes.limit((int) Math.min(WINDOW, bytes.position() + end - position));
      atEnd = read(bytes) < 0;
      if (decoder.decode(bytes.flip(), text.clear(), atEnd).isError()) {
        return OptionalLong.of(position - bytes.remaining());
      }
      bytes.compact();
    }
    return OptionalLong.empty();
  }
}
