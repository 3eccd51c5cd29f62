package dev.flotilla.checkpoint;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Reads and checks the object of a safetensors header that describes one tensor. */
final class TensorEntry {

  /** As many as libtorch itself can work with. */
  static final int MAX_DIMENSIONS = 64;

  private final String name;
  private final HeaderTokens tokens;
  private @Nullable TensorType type;
  private long @Nullable [] shape;
  private long @Nullable [] offsets;

  private TensorEntry(String name, HeaderTokens tokens) {
    this.name = name;
    this.tokens = tokens;
  }

  static TensorInfo read(String name, HeaderTokens tokens) {
    return new TensorEntry(name, tokens).read();
  }

  private TensorInfo read() {
    tokens.enterObject(() -> of("the entry"));
    for (var key = tokens.nextKey(); key != null; key = tokens.nextKey()) {
      readValue(key);
    }
    if (type == null || shape == null || offsets == null) {
      throw tokens.malformed(of("the entry") + " must have dtype, shape and data_offsets");
    }
    return checked(type, shape, offsets);
  }

  private void readValue(String key) {
    switch (key) {
      case "dtype" -> type = once(key, type, type(tokens.text(() -> of(key))));
      case "shape" -> shape = once(key, shape, tokens.numbers(() -> of(key), MAX_DIMENSIONS));
      case "data_offsets" -> offsets = once(key, offsets, tokens.numbers(() -> of(key), 2));
      default ->
          throw tokens.malformed(of("the entry") + " has an unknown key " + TensorName.quote(key));
    }
  }

  private <T> T once(String key, @Nullable T before, T now) {
    if (before != null) {
      throw tokens.malformed(of("the entry") + " has " + key + " twice");
    }
    return now;
  }

  private TensorType type(String typeName) {
    return TensorType.named(typeName)
        .orElseThrow(
            () ->
                tokens.malformed(
                    "%s is %s, but must be one of %s"
                        .formatted(
                            of("dtype"),
                            TensorName.quote(typeName),
                            Arrays.toString(TensorType.values()))));
  }

  private TensorInfo checked(TensorType type, long[] shape, long[] offsets) {
    if (offsets.length != 2 || offsets[0] > offsets[1]) {
      throw tokens.malformed(
          "%s must be two numbers in order, but is %s"
              .formatted(of("data_offsets"), Arrays.toString(offsets)));
    }
    var info = new TensorInfo(name, type, shape, offsets[0], offsets[1]);
    long needed = bytes(type, shape);
    if (needed != info.bytes()) {
      throw tokens.malformed(
          "tensor %s is %s and needs %d bytes, but its data_offsets hold %d"
              .formatted(TensorName.quote(name), info, needed, info.bytes()));
    }
    return info;
  }

  /** A size of 0 does not excuse an overflow of the others. */
  private long bytes(TensorType type, long[] shape) {
    try {
      long bytes = type.bytes();
      for (long size : shape) {
        bytes = Math.multiplyExact(bytes, Math.max(size, 1));
      }
      return Arrays.stream(shape).anyMatch(size -> size == 0) ? 0 : bytes;
    } catch (ArithmeticException e) {
      throw tokens.malformed(of("shape") + " is larger than any memory: " + Arrays.toString(shape));
    }
  }

  private String of(String what) {
    return "%s of tensor %s".formatted(what, TensorName.quote(name));
  }
}
