package dev.flotilla.checkpoint;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * The checked header of a safetensors file.
 *
 * <p>A header that exists is sound: every tensor's range has the size that type and shape demand,
 * and the ranges follow each other without gap or overlap from the first data byte to the last.
 *
 * @param dataStart where the data begin in the file
 * @param tensors the tensors in the order of their bytes
 */
record SafetensorsHeader(long dataStart, List<TensorInfo> tensors, Map<String, String> metadata) {

  /** The format's own limit. */
  static final int MAX_BYTES = 100_000_000;

  private static final Comparator<TensorInfo> BY_PLACE =
      Comparator.comparingLong(TensorInfo::begin).thenComparingLong(TensorInfo::end);

  /** Reads and checks the header of a file; takes memory for what it names alone. */
  static SafetensorsHeader read(Path file, FileChannel channel) throws IOException {
    long size = channel.size();
    long dataStart = Long.BYTES + (long) length(file, channel, size);
    requireBrace(file, channel);
    requireText(file, new HeaderStream(channel, Long.BYTES, dataStart));
    var content = HeaderParser.parse(file, new HeaderStream(channel, Long.BYTES, dataStart));
    var tensors = content.tensors().values().stream().sorted(BY_PLACE).toList();
    requireNoGap(file, tensors, size - dataStart);
    return new SafetensorsHeader(dataStart, tensors, content.metadata());
  }

  private static int length(Path file, FileChannel channel, long size) throws IOException {
    if (size < Long.BYTES) {
      throw CheckpointException.malformed(
          file, "it has %d bytes, fewer than the 8 of the header's length".formatted(size));
    }
    long length = readLength(channel);
    if (length < 2 || length > MAX_BYTES || length > size - Long.BYTES) {
      throw CheckpointException.malformed(
          file,
          "the header's length at byte 0 is %s, but must be from 2 to %d"
              .formatted(
                  Long.toUnsignedString(length), Math.clamp(size - Long.BYTES, 2, MAX_BYTES)));
    }
    return (int) length;
  }

  private static long readLength(FileChannel channel) throws IOException {
    byte[] bytes = new HeaderStream(channel, 0, Long.BYTES).readNBytes(Long.BYTES);
    if (bytes.length < Long.BYTES) {
      throw new EOFException("it was cut while being read");
    }
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong();
  }

  private static void requireBrace(Path file, FileChannel channel) throws IOException {
    if (new HeaderStream(channel, Long.BYTES, Long.BYTES + 1).read() != '{') {
      throw CheckpointException.malformed(file, "the header at byte 8 does not start with '{'");
    }
  }

  /** Parsers differ in what they let pass as UTF-8, so that it is settled before one is asked. */
  private static void requireText(Path file, HeaderStream header) throws IOException {
    var place = header.firstByteThatIsNotUtf8();
    if (place.isPresent()) {
      throw CheckpointException.malformed(
          file, "the header is not valid UTF-8 at byte " + place.getAsLong());
    }
  }

  private static void requireNoGap(Path file, List<TensorInfo> tensors, long dataBytes) {
    long expected = 0;
    for (var tensor : tensors) {
      if (tensor.begin() != expected) {
        throw CheckpointException.malformed(
            file,
            "tensor %s %s the one before: it begins at data byte %d, expected %d"
                .formatted(
                    TensorName.quote(tensor.name()),
                    tensor.begin() < expected ? "overlaps" : "leaves a hole after",
                    tensor.begin(),
                    expected));
      }
      expected = tensor.end();
    }
    if (expected != dataBytes) {
      throw CheckpointException.malformed(
          file, "the tensors take %d data bytes, but it has %d".formatted(expected, dataBytes));
    }
  }

  /** Returns the size of all tensors together. */
  long dataBytes() {
    return tensors.isEmpty() ? 0 : tensors.getLast().end();
  }
}
