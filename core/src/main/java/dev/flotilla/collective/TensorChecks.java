package dev.flotilla.collective;

import org.bytedeco.pytorch.Tensor;

/** Refuses on one rank what native code would answer with an abort or wrong numbers. */
final class TensorChecks {

  private TensorChecks() {}

  static void dense(Tensor tensor) {
    if (!tensor.is_contiguous()) {
      throw new IllegalArgumentException("a collective needs a dense tensor");
    }
  }

  static void root(int root, int size) {
    if (root < 0 || root >= size) {
      throw new IllegalArgumentException(
          "root must be in [0, %d), but was %d".formatted(size, root));
    }
  }

  static void gathers(Tensor whole, Tensor part, int size) {
    sameType(whole, part);
    if (whole.numel() != size * part.numel()) {
      throw new IllegalArgumentException(
          "an all-gather of %d parts of %d elements needs a tensor of %d, but was given %d"
              .formatted(size, part.numel(), size * part.numel(), whole.numel()));
    }
  }

  static void slices(Tensor whole, Tensor own, RankSlices slices, Collective group) {
    sameType(whole, own);
    if (slices.ranks() != group.size()
        || slices.elements() != whole.numel()
        || slices.length(group.rank()) != own.numel()) {
      throw new IllegalArgumentException(
          "rank %d of %d was given %s, a tensor of %d elements and its own slice of %d"
              .formatted(group.rank(), group.size(), slices, whole.numel(), own.numel()));
    }
  }

  static void exchanges(Tensor output, Tensor input, int size) {
    sameType(output, input);
    if (output.numel() != input.numel() || input.numel() % size != 0) {
      throw new IllegalArgumentException(
          "an all-to-all of %d ranks needs tensors of one length that %d divides, but was given %d"
                  .formatted(size, size, input.numel())
              + " and "
              + output.numel());
    }
  }

  static long bytes(Tensor tensor) {
    return tensor.numel() * tensor.element_size();
  }

  /** Returns the name of the type of a tensor's elements. */
  static String type(Tensor tensor) {
    return tensor.scalar_type().intern().name();
  }

  private static void sameType(Tensor a, Tensor b) {
    dense(a);
    dense(b);
    // The binding makes a new enum object at every call; only interned ones can be compared.
    if (a.scalar_type().intern() != b.scalar_type().intern()) {
      throw new IllegalArgumentException(
          "both tensors must have one dtype, but were %s and %s"
              .formatted(a.scalar_type(), b.scalar_type()));
    }
  }
}
