package dev.flotilla.optim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.util.List;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.bytedeco.pytorch.AdamOptions;
import org.bytedeco.pytorch.AdamWOptions;
import org.bytedeco.pytorch.SGDOptions;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Compares every optimizer with libtorch's own C++ one, step by step. */
class OptimizersAgainstLibtorchTests {

  private static final int STEPS = 50;
  private static final int ELEMENTS = 1003;

  record Row(
      String name,
      Optimizer ours,
      BiFunction<TensorVector, Double, org.bytedeco.pytorch.Optimizer> theirs,
      Precision precision,
      double tolerance) {
    @Override
    public String toString() {
      return name + " in " + precision;
    }
  }

  static Stream<Row> rows() {
    return Stream.of(Precision.values()).flatMap(OptimizersAgainstLibtorchTests::rowsIn);
  }

  private static Stream<Row> rowsIn(Precision precision) {
    return Stream.of(
        new Row("sgd", new Sgd(0.1), (p, wd) -> sgd(p, 0, false, wd), precision, 0),
        new Row("sgd, decay", new Sgd(0.1, 0.05), (p, wd) -> sgd(p, 0, false, wd), precision, 0),
        new Row(
            "momentum of 0, decay",
            new Momentum(0.1, 0, false, 0.05),
            (p, wd) -> sgd(p, 0, false, wd),
            precision,
            0),
        new Row(
            "momentum", new Momentum(0.1, 0.9), (p, wd) -> sgd(p, 0.9, false, wd), precision, 1e-6),
        new Row(
            "nesterov, decay",
            new Momentum(0.1, 0.9, true, 0.05),
            (p, wd) -> sgd(p, 0.9, true, wd),
            precision,
            1e-6),
        new Row(
            "adam, decay",
            new Adam(0.01, List.of(0.8, 0.99), 1e-7, 0.05),
            (p, wd) -> adam(p, wd),
            precision,
            1e-6),
        new Row(
            "adamw",
            new AdamW(0.01, List.of(0.8, 0.99), 1e-7, 0.05),
            (p, wd) -> adamw(p, wd),
            precision,
            1e-6));
  }

  private static org.bytedeco.pytorch.Optimizer sgd(
      TensorVector parameters, double momentum, boolean nesterov, double decay) {
    var options = new SGDOptions(0.1);
    options.momentum().put(momentum);
    options.nesterov().put(nesterov);
    options.weight_decay().put(decay);
    return new org.bytedeco.pytorch.SGD(parameters, options);
  }

  private static org.bytedeco.pytorch.Optimizer adam(TensorVector parameters, double decay) {
    var options = new AdamOptions(0.01);
    // A C++ tuple lies in memory last element first.
    options.betas().put(0.99, 0.8);
    options.eps().put(1e-7);
    options.weight_decay().put(decay);
    return new org.bytedeco.pytorch.Adam(parameters, options);
  }

  private static org.bytedeco.pytorch.Optimizer adamw(TensorVector parameters, double decay) {
    var options = new AdamWOptions(0.01);
    // A C++ tuple lies in memory last element first.
    options.betas().put(0.99, 0.8);
    options.eps().put(1e-7);
    options.weight_decay().put(decay);
    return new org.bytedeco.pytorch.AdamW(parameters, options);
  }

  @ParameterizedTest
  @MethodSource("rows")
  void equalsLibtorchStepByStep(Row row) {
    try (var _ = TensorScope.open()) {
      torch.manual_seed(1);
      var start = torch.randn(ELEMENTS).to(row.precision().scalarType());
      var gradient = Tensors.zeros(row.precision().scalarType(), ELEMENTS);
      var a = new ParameterGroup.Slice(start.clone(), gradient, 0);
      var b = new ParameterGroup.Slice(start.clone(), gradient, 0);
      double decay = row.ours().weightDecay();
      var wrapped = new TorchOptimizer(row.ours().lr(), decay, row.theirs());
      try (var ours = row.ours().bind(List.of(new ParameterGroup(List.of(a), decay)));
          var theirs = wrapped.bind(List.of(new ParameterGroup(List.of(b), decay)))) {
        for (int step = 0; step < STEPS; step++) {
          gradient.copy_(torch.randn(ELEMENTS));
          double lr = row.ours().lr() * (1 - 0.01 * step);
          ours.update(lr);
          theirs.update(lr);
          assertThat(largestDifference(a.parameter(), b.parameter()))
              .as("after step %d", step)
              .isLessThanOrEqualTo(row.tolerance());
        }
      }
      assertThat(largestDifference(a.parameter(), start)).isGreaterThan(1e-3);
    }
  }

  private static double largestDifference(Tensor a, Tensor b) {
    return a.sub(b).abs().max().item_double();
  }
}
