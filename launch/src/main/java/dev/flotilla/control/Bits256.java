package dev.flotilla.control;

import java.nio.ByteBuffer;
import java.security.SecureRandom;

/**
 * A number of 256 bits: something random, or a proof.
 *
 * @param a first 64 bits
 * @param b second 64 bits
 * @param c third 64 bits
 * @param d last 64 bits
 */
public record Bits256(long a, long b, long c, long d) {

  /** Returns a number that nobody can guess. */
  public static Bits256 random() {
    var random = new SecureRandom();
    return new Bits256(random.nextLong(), random.nextLong(), random.nextLong(), random.nextLong());
  }

  /** Returns the number that 32 bytes are. */
  public static Bits256 of(byte[] bytes) {
    var buffer = ByteBuffer.wrap(bytes);
    return new Bits256(buffer.getLong(), buffer.getLong(), buffer.getLong(), buffer.getLong());
  }

  /** Returns the 32 bytes of the number. */
  public byte[] bytes() {
    return ByteBuffer.allocate(32).putLong(a).putLong(b).putLong(c).putLong(d).array();
  }

  /** Tells whether both are equal, in a time that does not depend on where they differ. */
  public boolean matches(Bits256 other) {
    return ((a ^ other.a) | (b ^ other.b) | (c ^ other.c) | (d ^ other.d)) == 0;
  }
}
