package dev.flotilla.control;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * A connection that carries frames and never blocks; for one thread.
 *
 * <p>Who sends what is no frame, or reads nothing for long, loses the connection.
 */
final class Wire implements Closeable {

  private static final int READS_PER_TURN = 16;
  private static final int MOST_QUEUED = 1024 * 1024;

  private final SocketChannel channel;
  private final Deque<ByteBuffer> queue = new ArrayDeque<>();
  private ByteBuffer input = buffer(FrameCodec.LONGEST_OF_STRANGERS);
  private int longest = FrameCodec.LONGEST_OF_STRANGERS;
  private int queued;

  Wire(SocketChannel channel) throws IOException {
    this.channel = channel;
    channel.configureBlocking(false);
  }

  private static ByteBuffer buffer(int longestFrame) {
    return ByteBuffer.allocate(Integer.BYTES + longestFrame);
  }

  /** From now on the other end may send longer frames. */
  void trust() {
    longest = FrameCodec.LONGEST;
    input = buffer(longest).put(input.flip());
  }

  /**
   * Returns the frames that have come since the last call.
   *
   * @throws IOException if the connection has ended, also by what came; earlier frames are lost
   */
  List<Frame> receive() throws IOException {
    var frames = new ArrayList<Frame>();
    for (int turn = 0; turn < READS_PER_TURN; turn++) {
      int count = channel.read(input);
      takeFrames(frames);
      if (count < 0 && frames.isEmpty()) {
        throw new EOFException("the other end closed the connection");
      }
      if (count <= 0) {
        break;
      }
    }
    return frames;
  }

  /**
   * Returns the next frame, if it has come whole; what follows it stays for later.
   *
   * @throws IOException if the connection has ended, also by what came
   */
  Optional<Frame> receiveOne() throws IOException {
    int count = channel.read(input);
    input.flip();
    Optional<Frame> frame = next();
    input.compact();
    if (count < 0 && frame.isEmpty()) {
      throw new EOFException("the other end closed the connection");
    }
    return frame;
  }

  private void takeFrames(List<Frame> frames) throws FrameException {
    input.flip();
    for (var frame = next(); frame.isPresent(); frame = next()) {
      frames.add(frame.get());
    }
    input.compact();
  }

  private Optional<Frame> next() throws FrameException {
    if (input.remaining() < Integer.BYTES) {
      return Optional.empty();
    }
    int length = input.getInt(input.position());
    if (length < 1 || length > longest) {
      throw new FrameException("a frame of %d bytes is not taken".formatted(length));
    }
    if (input.remaining() < Integer.BYTES + length) {
      return Optional.empty();
    }
    int start = input.position() + Integer.BYTES;
    var frame = FrameCodec.decode(input.slice(start, length));
    input.position(start + length);
    return Optional.of(frame);
  }

  /** Sends a frame, now or when the other end reads on. */
  void send(Frame frame) throws IOException {
    ByteBuffer bytes = FrameCodec.encode(frame);
    queued += bytes.remaining();
    if (queued > MOST_QUEUED) {
      throw new IOException("the other end does not read");
    }
    queue.add(bytes);
    flush();
  }

  /** Sends what is left; tells whether all is sent. */
  boolean flush() throws IOException {
    for (ByteBuffer next = queue.peek(); next != null; next = queue.peek()) {
      queued -= channel.write(next);
      if (next.hasRemaining()) {
        return false;
      }
      queue.remove();
    }
    return true;
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
