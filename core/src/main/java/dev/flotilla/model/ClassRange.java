package dev.flotilla.model;

import dev.flotilla.memory.TensorScope;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * Refuses classes that logits have no place for. On a CPU libtorch does; on a GPU it ends all work
 * of the process there, and does not say which class it was.
 */
public final class ClassRange {

  private ClassRange() {}

  /**
   * Requires classes in main memory to be in [0, count); others are not looked at.
   *
   * @param classes of samples, and of places in them if they have more axes than one
   * @param ignored a number that stands for no class; null for none
   * @throws IllegalArgumentException naming the first that is not
   */
  public static void require(Tensor classes, long count, @Nullable Long ignored) {
    if (classes.is_cuda()
        || classes.numel() == 0
        || classes.scalar_type().intern() != torch.ScalarType.Long) {
      return;
    }
    try (var _ = TensorScope.open()) {
      var ends = classes.aminmax();
      if (ends.get0().item_long() < 0 || ends.get1().item_long() >= count) {
        requireEach(classes, count, ignored);
      }
    }
  }

  private static void requireEach(Tensor classes, long count, @Nullable Long ignored) {
    Tensor isWrong = classes.lt(new Scalar(0L)).logical_or(classes.ge(new Scalar(count)));
    if (ignored != null) {
      isWrong = isWrong.logical_and(classes.ne(new Scalar(ignored.longValue())));
    }
    Tensor places = isWrong.flatten().nonzero();
    if (places.size(0) > 0) {
      long place = places.select(0, 0).item_long();
      throw new IllegalArgumentException(
          "target %d of sample %d is none of the %d classes, 0 to %d%s"
              .formatted(
                  classes.flatten().select(0, place).item_long(),
                  place / (classes.numel() / classes.size(0)),
                  count,
                  count - 1,
                  ignored == null ? "" : ", nor " + ignored + ", which is left out"));
    }
  }
}
