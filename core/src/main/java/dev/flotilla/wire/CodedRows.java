package dev.flotilla.wire;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/** Coded numbers on their way: a row of bytes for each rank, all of one length. */
final class CodedRows implements AutoCloseable {

  private final Codec codec;
  private final int ranks;
  private final Tensor bytes;
  private long rowBytes;

  /**
   * Takes memory.
   *
   * @param longest most numbers of a row
   */
  CodedRows(Codec codec, int ranks, long longest) {
    this.codec = codec;
    this.ranks = ranks;
    rowBytes = codec.bytes(longest);
    try (var _ = TensorScope.open()) {
      bytes = TensorScope.keep(Tensors.zeros(torch.ScalarType.Byte, ranks * rowBytes));
    }
  }

  /** Makes rows just long enough for so many numbers. */
  void fit(long numbers) {
    rowBytes = codec.bytes(numbers);
  }

  /** Returns the rows of all ranks. */
  Tensor all() {
    return bytes.narrow(0, 0, ranks * rowBytes);
  }

  Tensor row(int rank) {
    return bytes.narrow(0, rank * rowBytes, rowBytes);
  }

  /** Codes numbers into a row, and leaves them changed. */
  void encode(Tensor numbers, int rank) {
    if (numbers.numel() > 0) {
      try (var _ = TensorScope.open()) {
        codec.encode(numbers, row(rank));
      }
    }
  }

  /** Reads as many numbers of a row as the target holds. */
  void decode(int rank, Tensor numbers) {
    if (numbers.numel() > 0) {
      try (var _ = TensorScope.open()) {
        codec.decode(row(rank), numbers);
      }
    }
  }

  /**
   * Adds up all rows in float32, in the order of ranks.
   *
   * @param sum takes the sum
   * @param term of the same length; overwritten
   */
  void addUp(Tensor sum, Tensor term) {
    decode(0, sum);
    for (int rank = 1; rank < ranks; rank++) {
      decode(rank, term);
      sum.add_(term);
    }
  }

  @Override
  public void close() {
    TensorScope.free(bytes);
  }
}
