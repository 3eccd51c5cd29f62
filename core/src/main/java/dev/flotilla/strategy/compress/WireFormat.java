package dev.flotilla.strategy.compress;

import dev.flotilla.wire.Dtype;
import dev.flotilla.wire.HalfRange;
import java.nio.ByteBuffer;

/**
 * How the chosen entries of a bucket lie in a message of 32-bit words, which has the same length on
 * all ranks whatever they chose.
 *
 * <p>Indices come first, then values. Indices as int32 are followed by −1 where fewer than k were
 * chosen. Packed, they are Golomb-Rice codes of the distance to the index before: with l = ⌊log₂(n
 * / k)⌋, distance / 2^l in unary and the l low bits as they are, which is at most k (l + 1) + n /
 * 2^l bits in all, less than l + 3 bits each.
 *
 * @param indexFormat how indices are written
 * @param dtype how values are written
 * @param capacity k, the most entries of a message
 * @param universe n, the number of indices that can be named
 */
record WireFormat(IndexFormat indexFormat, Dtype dtype, int capacity, int universe) {

  /** Returns the length of a message. */
  int words() {
    return valuesAt() + scaleWords() + valueWords();
  }

  private int valuesAt() {
    return indexFormat == IndexFormat.INT32
        ? capacity
        : 1 + Math.ceilDiv(packedBits(), Integer.SIZE);
  }

  private int packedBits() {
    long bits = (long) capacity * (lowBits() + 1) + (universe >> lowBits()) + 1;
    return Math.toIntExact(bits);
  }

  private int scaleWords() {
    return dtype == Dtype.FP16 ? 1 : 0;
  }

  private int valueWords() {
    return dtype == Dtype.FP16 ? Math.ceilDiv(capacity, 2) : capacity;
  }

  private int lowBits() {
    int ratio = Math.max(1, universe / Math.max(1, capacity));
    return Integer.SIZE - 1 - Integer.numberOfLeadingZeros(ratio);
  }

  /**
   * Writes entries, and leaves in {@code values} what the readers will see.
   *
   * @param indices ascending
   */
  void write(ByteBuffer message, int[] indices, float[] sent, int count) {
    if (indexFormat == IndexFormat.INT32) {
      for (int i = 0; i < capacity; i++) {
        message.putInt(byteAt(i), i < count ? indices[i] : -1);
      }
    } else {
      pack(message, indices, count);
    }
    if (dtype == Dtype.FP32) {
      for (int i = 0; i < count; i++) {
        message.putFloat(byteAt(valuesAt() + i), sent[i]);
      }
    } else {
      writeHalves(message, sent, count);
    }
  }

  private static int byteAt(int word) {
    return word * Integer.BYTES;
  }

  private void pack(ByteBuffer message, int[] indices, int count) {
    message.putInt(0, count);
    int low = lowBits();
    var bits = new BitWriter(message, 1);
    int before = 0;
    for (int i = 0; i < count; i++) {
      int distance = indices[i] - before;
      bits.putUnary(distance >> low);
      bits.put(distance, low);
      before = indices[i];
    }
    bits.end();
  }

  private void writeHalves(ByteBuffer message, float[] sent, int count) {
    int exponent = commonExponent(sent, count);
    message.putInt(byteAt(valuesAt()), exponent);
    int start = byteAt(valuesAt() + 1);
    for (int i = 0; i < count; i++) {
      short half = Float.floatToFloat16(Math.scalb(sent[i], exponent));
      message.putShort(start + Short.BYTES * i, half);
      sent[i] = full(half, exponent);
    }
  }

  private static int commonExponent(float[] sent, int count) {
    float largest = 0;
    for (int i = 0; i < count; i++) {
      largest = Math.max(largest, Math.abs(sent[i]));
    }
    return HalfRange.exponentFor(largest);
  }

  private static float full(short half, int exponent) {
    return Math.scalb(Float.float16ToFloat(half), -exponent);
  }

  /** Reads the indices of a message and returns how many there are. */
  int readIndices(ByteBuffer message, int[] indices) {
    if (indexFormat == IndexFormat.PACKED) {
      return unpack(message, indices);
    }
    for (int i = 0; i < capacity; i++) {
      indices[i] = message.getInt(byteAt(i));
    }
    int count = capacity;
    while (count > 0 && indices[count - 1] < 0) {
      count--;
    }
    return count;
  }

  private int unpack(ByteBuffer message, int[] indices) {
    int count = message.getInt(0);
    int low = lowBits();
    var bits = new BitReader(message, 1, valuesAt());
    int index = 0;
    for (int i = 0; i < count; i++) {
      long high = bits.getUnary() << low;
      index += (int) (high | bits.get(low));
      indices[i] = index;
    }
    return count;
  }

  /** Reads the values of a message with so many entries. */
  void readValues(ByteBuffer message, float[] target, int count) {
    if (dtype == Dtype.FP32) {
      for (int i = 0; i < count; i++) {
        target[i] = message.getFloat(byteAt(valuesAt() + i));
      }
      return;
    }
    int exponent = message.getInt(byteAt(valuesAt()));
    int start = byteAt(valuesAt() + 1);
    for (int i = 0; i < count; i++) {
      target[i] = full(message.getShort(start + Short.BYTES * i), exponent);
    }
  }
}
