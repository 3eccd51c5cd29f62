package dev.flotilla.wire;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Pending;
import dev.flotilla.collective.RankSlices;
import dev.flotilla.collective.Traffic;
import org.bytedeco.pytorch.Tensor;

/** A sum over ranks of which each rank gets its slice, in the numbers that the wire takes. */
@FunctionalInterface
public interface ReduceScatter {

  /**
   * Returns what sums over a group of ranks; one rank alone has nothing to send, and rounds
   * nothing.
   *
   * @param wire fp32, bf16 or fp16; sums are float32 whatever it is
   */
  static ReduceScatter of(Collective group, Dtype wire) {
    return wire == Dtype.FP32 || group.size() == 1
        ? group::reduceScatter
        : new CodedScatter(group, new HalfCodec(wire));
  }

  /**
   * Starts a sum in the order of ranks, of vectors that are overwritten from now on.
   *
   * @param own takes this rank's slice of the sum, and may lie at its place in {@code whole}
   */
  Pending start(Tensor own, Tensor whole, RankSlices slices, Traffic traffic);
}
