package dev.flotilla.strategy.powersgd;

import dev.flotilla.arena.Gradients;
import dev.flotilla.arena.Slot;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Pending;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * The messages of one bucket: P of all its matrices with the gradients that are no matrices behind
 * them, and then the other factor of all its matrices.
 */
final class LowRankBucket implements AutoCloseable {

  private final List<LowRankMatrix> matrices;
  private final Collective collective;
  private final boolean isWarm;
  private final Tensor first;
  private final Tensor second;
  private final List<Tensor> ps = new ArrayList<>();
  private final List<Tensor> ss = new ArrayList<>();
  private final List<Tensor> places = new ArrayList<>();
  private final List<Tensor> copies = new ArrayList<>();

  /**
   * Prepares a bucket.
   *
   * @param dense the parameters that are summed as they are
   * @param isWarm whether the next update starts from the factor of this one
   */
  LowRankBucket(
      List<LowRankMatrix> matrices,
      List<Slot> dense,
      Gradients gradients,
      Collective collective,
      boolean isWarm) {
    this.matrices = List.copyOf(matrices);
    this.collective = collective;
    this.isWarm = isWarm;
    long other = dense.stream().mapToLong(Slot::length).sum();
    try (var _ = TensorScope.open()) {
      first = TensorScope.keep(gradients.values().new_zeros(sum(FactorShape::first) + other));
      second = TensorScope.keep(gradients.values().new_zeros(sum(FactorShape::second)));
      long p = 0;
      long s = 0;
      for (var matrix : matrices) {
        var shape = matrix.shape();
        ps.add(vectors(first, p, shape.rank(), shape.rows()));
        ss.add(vectors(second, s, shape.rank(), shape.columns()));
        p += shape.first();
        s += shape.second();
      }
      for (var slot : dense) {
        places.add(TensorScope.keep(gradients.values().narrow(0, slot.offset(), slot.length())));
        copies.add(TensorScope.keep(first.narrow(0, p, slot.length())));
        p += slot.length();
      }
    }
  }

  private int sum(ToIntFunction<FactorShape> size) {
    return matrices.stream().map(LowRankMatrix::shape).mapToInt(size).reduce(0, Math::addExact);
  }

  private static Tensor vectors(Tensor message, long at, int count, int length) {
    return TensorScope.keep(message.narrow(0, at, (long) count * length).view(count, length));
  }

  boolean hasMatrices() {
    return !matrices.isEmpty();
  }

  /** Starts to sum P, and the gradients that are no matrices. */
  Pending sendFirst(double factor) {
    for (int i = 0; i < matrices.size(); i++) {
      matrices.get(i).project(factor, ps.get(i));
    }
    for (int i = 0; i < places.size(); i++) {
      copies.get(i).copy_(places.get(i));
      Tensors.scale(copies.get(i), factor);
    }
    return collective.allReduce(first, Reduction.SUM, Traffic.EXCHANGE);
  }

  /** Makes P orthonormal, and starts to sum the other factor. */
  Pending sendSecond(long update) {
    try (var _ = TensorScope.open()) {
      var all = first.narrow(0, 0, sum(FactorShape::first));
      all.copy_(orthonormal(all, FactorShape::rows, update));
    }
    for (int i = 0; i < matrices.size(); i++) {
      matrices.get(i).correlate(ps.get(i), ss.get(i));
    }
    return collective.allReduce(second, Reduction.SUM, Traffic.EXCHANGE);
  }

  /** Puts what all ranks have sent in place of the gradients, and prepares the next update. */
  Pending finish(long update) {
    for (int i = 0; i < matrices.size(); i++) {
      matrices.get(i).decode(ps.get(i), ss.get(i), collective.size());
    }
    for (int i = 0; i < places.size(); i++) {
      places.get(i).copy_(copies.get(i));
    }
    if (!isWarm) {
      // Vectors of nothing are replaced by random ones.
      second.zero_();
    }
    try (var _ = TensorScope.open()) {
      second.copy_(orthonormal(second, FactorShape::columns, update + 1));
    }
    for (int i = 0; i < matrices.size(); i++) {
      matrices.get(i).start(ss.get(i));
    }
    return Pending.DONE;
  }

  /** In main memory, all matrices at once: a device is waited for one time. */
  private Tensor orthonormal(Tensor vectors, ToIntFunction<FactorShape> length, long update) {
    var host = Tensors.empty(torch.ScalarType.Double, vectors.numel());
    host.copy_(vectors);
    var memory = NativeView.of(host);
    var values = memory.toArray(ValueLayout.JAVA_DOUBLE);
    int at = 0;
    for (var matrix : matrices) {
      int rank = matrix.shape().rank();
      int each = length.applyAsInt(matrix.shape());
      Householder.orthonormalise(values, at, rank, each, matrix.numbers(update));
      at += rank * each;
    }
    MemorySegment.copy(values, 0, memory, ValueLayout.JAVA_DOUBLE, 0, values.length);
    return host;
  }

  /** Makes the gradients what this rank has, where there is no other one to send anything to. */
  Pending deliver(double factor) {
    matrices.forEach(matrix -> matrix.deliver(factor));
    places.forEach(place -> Tensors.scale(place, factor));
    return Pending.DONE;
  }

  @Override
  public void close() {
    Stream.of(ps, ss, places, copies).flatMap(List::stream).forEach(TensorScope::free);
    TensorScope.free(second);
    TensorScope.free(first);
  }
}
