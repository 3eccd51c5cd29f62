package dev.flotilla.control;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * A connection that carries frames and never blocks; for one thread.
 *
 * <p>Who sends what is no frame, or reads nothing for long, loses the connection. Lengths are
 * limited before anything else is looked at, the more so until the other end has proved that it
 * knows the key; from then on every frame is {@linkplain Seal sealed}.
 */
final class Wire implements Closeable {

  private static final int READS_PER_TURN = 16;

  /** What TLS begins with: a record of its greeting, version 3. */
  private static final int GREETING_OF_TLS = 0x1603;

  private static final int MOST_QUEUED = 4 * 1024 * 1024;

  /** Takes a frame, before the next one is read: it may change how that is to be read. */
  interface Taker {

    /**
     * Takes a frame.
     *
     * @param generation attempt in whose name it was sent; 0 during the greeting
     */
    void take(Frame frame, int generation) throws IOException;
  }

  private final SocketChannel channel;
  private final Deque<ByteBuffer> queue = new ArrayDeque<>();
  private ByteBuffer input = buffer(FrameCodec.LONGEST_OF_STRANGERS);
  private int longest = FrameCodec.LONGEST_OF_STRANGERS;
  private Seal.@Nullable Pair seals;
  private boolean hasBegun;
  private int queued;

  Wire(SocketChannel channel) throws IOException {
    this.channel = channel;
    channel.configureBlocking(false);
  }

  private static ByteBuffer buffer(int longestFrame) {
    return ByteBuffer.allocate(Integer.BYTES + longestFrame);
  }

  /** From now on the other end may send longer frames, and every frame is sealed. */
  void trust(Seal.Pair negotiated) {
    seals = negotiated;
    longest = Seal.OVERHEAD + FrameCodec.LONGEST;
    input = buffer(longest).put(input.flip());
  }

  /** Tells whether the other end has sent anything. */
  boolean hasBegun() {
    return hasBegun;
  }

  /**
   * Hands over the frames that have come since the last call, one by one.
   *
   * @throws IOException if the connection has ended, also by what came
   */
  void receive(Taker taker) throws IOException {
    boolean isAny = false;
    for (int turn = 0; turn < READS_PER_TURN; turn++) {
      int count = read();
      while (takeNext(taker)) {
        isAny = true;
      }
      if (count < 0 && !isAny) {
        throw new EOFException("the other end closed the connection");
      }
      if (count <= 0) {
        break;
      }
    }
  }

  /**
   * Hands over the next frame, if it has come whole; what follows it stays for later.
   *
   * @throws IOException if the connection has ended, also by what came
   */
  void receiveOne(Taker taker) throws IOException {
    int count = read();
    if (!takeNext(taker) && count < 0) {
      throw new EOFException("the other end closed the connection");
    }
  }

  private int read() throws IOException {
    int count = channel.read(input);
    hasBegun |= count > 0;
    return count;
  }

  private boolean takeNext(Taker taker) throws IOException {
    input.flip();
    ByteBuffer next = nextContent();
    if (next == null) {
      input.compact();
      return false;
    }
    int generation = seals == null ? 0 : next.getInt();
    Frame frame = FrameCodec.decode(next.slice());
    input.compact();
    taker.take(frame, generation);
    return true;
  }

  /** Returns what is behind the next length, its seal checked; null if not all of it is there. */
  private @Nullable ByteBuffer nextContent() throws FrameException {
    if (input.remaining() < Integer.BYTES) {
      return null;
    }
    int length = input.getInt(input.position());
    if (seals == null && length >>> 16 == GREETING_OF_TLS) {
      throw new FrameException(
          "it speaks TLS: give --secure to the launchers of all hosts, or of none");
    }
    if (length < 1 || length > longest) {
      throw new FrameException("a frame of %d bytes is not taken".formatted(length));
    }
    if (input.remaining() < Integer.BYTES + length) {
      return null;
    }
    int start = input.position() + Integer.BYTES;
    input.position(start + length);
    ByteBuffer content = input.slice(start, length);
    return seals == null ? content : seals.incoming().open(content);
  }

  /** Sends a frame of the greeting, now or when the other end reads on. */
  void send(Frame frame) throws IOException {
    send(frame, 0);
  }

  /**
   * Sends a frame, now or when the other end reads on.
   *
   * @param generation attempt in whose name it is sent
   */
  void send(Frame frame, int generation) throws IOException {
    ByteBuffer bytes =
        seals == null
            ? FrameCodec.encode(frame)
            : seals.outgoing().close(generation, FrameCodec.payload(frame));
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
