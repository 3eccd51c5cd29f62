package dev.flotilla.strategy.compress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Mirrors give what compression in place gives; main memory stands for the device here. */
class StagedBucketTests {

  private static final int LENGTH = 4_000;
  private static final Rule RULE = new Rule(0.9, false, true);

  /** Four arenas with one stretch. */
  private record Arenas(Tensor gradient, Tensor velocity, Tensor residual, Tensor weight) {

    static Arenas random() {
      var arenas = new Arenas(empty(), empty(), empty(), empty());
      Playground.randomize(arenas.memory(), 5, 1);
      return arenas;
    }

    private static Tensor empty() {
      return Tensors.zeros(torch.ScalarType.Float, LENGTH);
    }

    List<Tensor> tensors() {
      return List.of(gradient, velocity, residual, weight);
    }

    List<MemorySegment> memory() {
      return tensors().stream().map(NativeView::of).toList();
    }

    Field field() {
      var memory = memory();
      return new Field(0, 0.01f, memory.get(0), memory.get(1), memory.get(2), memory.get(3));
    }
  }

  private static StagedBucket.Mirror mirror(Tensor device, Tensor host) {
    return new StagedBucket.Mirror(TensorScope.keep(device), TensorScope.keep(host));
  }

  /** With a sparsity of 0.5 all of the gradient is looked at, with 0.99 only what was received. */
  @ParameterizedTest
  @ValueSource(doubles = {0, 0.5, 0.99})
  void givesWhatCompressionInPlaceGives(double sparsity) {
    try (var _ = TensorScope.open()) {
      var here = Arenas.random();
      var there = Arenas.random();
      var between = new Arenas(Arenas.empty(), Arenas.empty(), Arenas.empty(), Arenas.empty());
      var stage =
          new StagedBucket.Stage(
              mirror(there.gradient(), between.gradient()),
              mirror(there.velocity(), between.velocity()),
              mirror(there.residual(), between.residual()),
              mirror(there.weight(), between.weight()));
      try (var inPlace = bucket(here.field());
          var staged = new StagedBucket(bucket(between.field()), List.of(stage))) {
        for (int step = 0; step < 3; step++) {
          step(inPlace, here, sparsity, step);
          step(staged, there, sparsity, step);
          assertThat(bytes(there.weight())).isEqualTo(bytes(here.weight()));
          assertThat(bytes(there.velocity())).isEqualTo(bytes(here.velocity()));
          assertThat(bytes(there.residual())).isEqualTo(bytes(here.residual()));
        }
      }
    }
  }

  private static CpuBucket bucket(Field field) {
    return new CpuBucket(new Dgc(), RULE, List.of(field), LENGTH, 1);
  }

  private static void step(BucketCompressor bucket, Arenas arenas, double sparsity, int number) {
    Playground.randomize(List.of(NativeView.of(arenas.gradient())), number, 1);
    bucket.sparsity(sparsity);
    bucket.compress(0.5);
    bucket.messages().copy_(bucket.message());
    bucket.add();
    bucket.apply(0.1);
    arenas.gradient().zero_();
  }

  private static float[] bytes(Tensor tensor) {
    return Playground.copy(NativeView.of(tensor));
  }
}
