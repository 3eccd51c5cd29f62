package dev.flotilla.testkit;

import dev.flotilla.optim.Adagrad;
import dev.flotilla.optim.Adam;
import dev.flotilla.optim.AdamW;
import dev.flotilla.optim.Lamb;
import dev.flotilla.optim.Lars;
import dev.flotilla.optim.Lion;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.optim.RmsProp;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.precision.MixedPrecision;
import dev.flotilla.strategy.shard.Offload;
import dev.flotilla.strategy.shard.Sharding;
import dev.flotilla.testkit.Conformance.Promise;
import dev.flotilla.testkit.Conformance.Row;
import dev.flotilla.wire.Dtype;
import java.util.List;
import java.util.stream.Stream;

/** Each optimizer with gradient merge, mixed precision and sharding; the table has momentum's. */
final class OptimizerRows {

  /** A rule that divides by small numbers makes much of the last bit of a sum. */
  private static final double NEAR = 0.02;

  private OptimizerRows() {}

  static Stream<Row> all() {
    return Stream.of(
        together("adam, sharding 2, bf16 and merge", new Adam(0.02), new Sharding(2)),
        together("amsgrad, sharding 3, bf16 and merge", amsgrad(), new Sharding(3)),
        together("rmsprop, sharding 1, bf16 and merge", rmsProp(), new Sharding(1)),
        together("adagrad, sharding 2, bf16 and merge", new Adagrad(0.02), new Sharding(2)),
        together("lamb, sharding 2, bf16 and merge", lamb(), new Sharding(2)),
        together("lars, sharding 3, bf16 and merge", lars(), new Sharding(3)),
        together("lion, sharding 2, bf16 and merge", new Lion(0.01), new Sharding(2)),
        new Row("lamb, sharding 3 beside the device", Promise.EXACT, List.of(beside()), NEAR)
            .with(lamb()));
  }

  private static Row together(String name, Optimizer rule, Strategy sharding) {
    var techniques = List.of(sharding, new MixedPrecision(Dtype.BF16), new GradientMerge(3));
    return new Row(name, Promise.ALGORITHMIC, techniques, 0.2).with(rule);
  }

  private static AdamW amsgrad() {
    return new AdamW(0.02).withAmsgrad();
  }

  private static RmsProp rmsProp() {
    return new RmsProp(0.01, 0.9, 1e-6, 0.5, true, 0.01);
  }

  private static Lamb lamb() {
    return new Lamb(0.05);
  }

  private static Lars lars() {
    return new Lars(1, 0.9, false, 0.02, 1e-8, 0.001, false, true);
  }

  private static Sharding beside() {
    return new Sharding(3).withOffload(Offload.OPTIMIZER_AND_PARAMETERS);
  }
}
