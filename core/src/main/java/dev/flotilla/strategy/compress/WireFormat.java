package dev.flotilla.strategy.compress;

import dev.flotilla.wire.Dtype;
import dev.flotilla.wire.HalfRange;
import java.nio.ByteBuffer;

/**
 * How the chosen entries of a bucket lie in a message of 32-bit words, which has the same length on
 * all ranks whatever they chose.
 *
 * <p>Places come first, then values. Places as int32 are followed by −1 where fewer than k were
 * chosen. Packed, they are Golomb-Rice codes of the distance to the place before: with l = ⌊log₂(n
 * / k)⌋, distance / 2^l in unary and the l low bits as they are, which is at most k (l + 1) + n /
 * 2^l bits in all, less than l + 3 bits each.
 *
 * @param indices how places are written
 * @param values how values are written
 * @param capacity k, the most entries of a message
 * @param universe n, the number of places that can be named
 */
record WireFormat(Indices indices, Dtype values, int capacity, int universe) {

  /** Returns the length of a message. */
  int words() {
    return valuesAt() + scaleWords() + valueWords();
  }

  private int valuesAt() {
    return indices == Indices.INT32 ? capacity : 1 + Math.ceilDiv(packedBits(), Integer.SIZE);
  }

  private int packedBits() {
    long bits = (long) capacity * (lowBits() + 1) + (universe >> lowBits()) + 1;
    return Math.toIntExact(bits);
  }

  private int scaleWords() {
    return values == Dtype.FP16 ? 1 : 0;
  }

  private int valueWords() {
    return values == Dtype.FP16 ? Math.ceilDiv(capacity, 2) : capacity;
  }

  private int lowBits() {
    int ratio = Math.max(1, universe / Math.max(1, capacity));
    return Integer.SIZE - 1 - Integer.numberOfLeadingZeros(ratio);
  }

  /**
   * Writes entries, and leaves in {@code values} what the readers will see.
   *
   * @param places ascending
   */
  void write(ByteBuffer message, int[] places, float[] sent, int count) {
    if (indices == Indices.INT32) {
      for (int i = 0; i < capacity; i++) {
        message.putInt(byteAt(i), i < count ? places[i] : -1);
      }
    } else {
      pack(message, places, count);
    }
    if (values == Dtype.FP32) {
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

  private void pack(ByteBuffer message, int[] places, int count) {
    message.putInt(0, count);
    int low = lowBits();
    var bits = new BitWriter(message, 1);
    int before = 0;
    for (int i = 0; i < count; i++) {
      int distance = places[i] - before;
      bits.putUnary(distance >> low);
      bits.put(distance, low);
      before = places[i];
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

  /** Reads the places of a message and returns how many there are. */
  int readPlaces(ByteBuffer message, int[] places) {
    if (indices == Indices.PACKED) {
      return unpack(message, places);
    }
    for (int i = 0; i < capacity; i++) {
      places[i] = message.getInt(byteAt(i));
    }
    int count = capacity;
    while (count > 0 && places[count - 1] < 0) {
      count--;
    }
    return count;
  }

  private int unpack(ByteBuffer message, int[] places) {
    int count = message.getInt(0);
    int low = lowBits();
    var bits = new BitReader(message, 1, valuesAt());
    int place = 0;
    for (int i = 0; i < count; i++) {
      long high = bits.getUnary() << low;
      place += (int) (high | bits.get(low));
      places[i] = place;
    }
    return count;
  }

  /** Reads the values of a message with so many entries. */
  void readValues(ByteBuffer message, float[] target, int count) {
    if (values == Dtype.FP32) {
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
