package dev.flotilla.checkpoint;

import dev.flotilla.memory.TensorScope;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Map;
import org.bytedeco.pytorch.Tensor;

/**
 * Computes {@code weights_sha256}: equal for two models exactly when names, types, shapes and all
 * bits of their parameters and buffers are equal.
 *
 * <p>It is the SHA-256 of the following bytes, in lower-case hexadecimal digits. Every number is a
 * signed 64-bit little-endian integer; a text is the number of its UTF-8 bytes and then these
 * bytes. For each tensor, in the order of the names' UTF-8 bytes:
 *
 * <ol>
 *   <li>its name, as a text;
 *   <li>its type, as a text: {@code F32}, {@code I64} and so on, as in safetensors;
 *   <li>the number of its dimensions, and then the size of each;
 *   <li>its elements in row-major order, little-endian, without a length.
 * </ol>
 *
 * <p>A tensor that goes by several names is given once, under one of them.
 */
public final class WeightsDigest {

  private final MessageDigest sha256;

  private WeightsDigest(MessageDigest sha256) {
    this.sha256 = sha256;
  }

  /**
   * Returns the digest of dense tensors.
   *
   * @throws IllegalArgumentException if a tensor is not dense, or of a type that cannot be stored
   */
  public static String of(Map<String, Tensor> tensors) {
    return of(WeightSource.of(tensors));
  }

  /** Returns the digest of dense tensors, each brought when its turn comes. */
  public static String of(WeightSource weights) {
    var digest = new WeightsDigest(Digests.newSha256());
    try (var _ = TensorScope.open()) {
      LiveTensor.inNameOrder(weights).forEach(digest::add);
    }
    return HexFormat.of().formatHex(digest.sha256.digest());
  }

  private void add(LiveTensor tensor) {
    addText(tensor.name());
    addText(tensor.type().name());
    addNumber(tensor.shape().length);
    for (long size : tensor.shape()) {
      addNumber(size);
    }
    tensor.forEachChunk(sha256::update);
  }

  private void addText(String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    addNumber(utf8.length);
    sha256.update(utf8);
  }

  private void addNumber(long number) {
    sha256.update(ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(0, number));
  }
}
