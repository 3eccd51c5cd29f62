package dev.flotilla.control;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import javax.crypto.Mac;

/**
 * Authenticates the frames of one direction of one connection, in their order.
 *
 * <p>The code of a frame is HMAC-SHA-256 over its number, the sender's generation and its bytes,
 * with a secret that only this direction of this connection has. So none can be changed, left out,
 * sent twice, sent back, or used on another connection, in another job or at another time.
 */
final class Seal {

  /** What a seal adds to a frame: the generation before it, the code behind it. */
  static final int OVERHEAD = Integer.BYTES + 32;

  private final Mac mac;
  private final ByteBuffer number = ByteBuffer.allocate(Long.BYTES);
  private long count;

  Seal(Mac mac) {
    this.mac = mac;
  }

  /**
   * Puts a frame's bytes, sealed, behind their length.
   *
   * @param generation attempt in whose name the sender speaks
   */
  ByteBuffer close(int generation, ByteBuffer payload) {
    ByteBuffer sealed = ByteBuffer.allocate(Integer.BYTES + OVERHEAD + payload.remaining());
    sealed.putInt(OVERHEAD + payload.remaining()).putInt(generation).put(payload);
    sealed.put(code(sealed.slice(Integer.BYTES, sealed.position() - Integer.BYTES)));
    return sealed.flip();
  }

  /**
   * Checks what came behind a length; leaves the generation and the frame's bytes.
   *
   * @throws FrameException if it is not the next frame of the other end
   */
  ByteBuffer open(ByteBuffer sealed) throws FrameException {
    int length = sealed.remaining() - (OVERHEAD - Integer.BYTES);
    if (length < Integer.BYTES) {
      throw new FrameException("a frame is too short for its code of authenticity");
    }
    ByteBuffer content = sealed.slice(sealed.position(), length);
    var claimed = new byte[OVERHEAD - Integer.BYTES];
    sealed.get(sealed.position() + length, claimed);
    if (!MessageDigest.isEqual(claimed, code(content.duplicate()))) {
      throw new FrameException("a frame does not come from the other end");
    }
    return content;
  }

  private byte[] code(ByteBuffer content) {
    mac.update(number.clear().putLong(count++).flip());
    mac.update(content);
    return mac.doFinal();
  }

  /** The seals of both directions, as one end uses them. */
  record Pair(Seal outgoing, Seal incoming) {

    /**
     * Makes the seals of a connection.
     *
     * @param words what tells this connection from all others, proved by both ends
     * @param listens whether this end is the one that was called
     */
    static Pair of(JobKey key, String words, boolean listens) {
      try {
        var calls = new Seal(key.derived("caller to listener " + words).mac());
        var answers = new Seal(key.derived("listener to caller " + words).mac());
        return listens ? new Pair(answers, calls) : new Pair(calls, answers);
      } catch (GeneralSecurityException e) {
        throw new IllegalStateException("every JVM knows HMAC", e);
      }
    }
  }
}
