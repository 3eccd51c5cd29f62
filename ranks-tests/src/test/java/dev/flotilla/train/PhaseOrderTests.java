package dev.flotilla.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.Layout;
import dev.flotilla.collective.Pending;
import dev.flotilla.data.Batch;
import dev.flotilla.exchange.BucketPlan;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.LossTerms;
import dev.flotilla.optim.Sgd;
import dev.flotilla.pass.Accumulation;
import dev.flotilla.pass.Accumulation.Decision;
import dev.flotilla.pass.ForwardBackward;
import dev.flotilla.pass.MicroStep;
import dev.flotilla.state.RunState;
import dev.flotilla.step.Claim;
import dev.flotilla.step.Claim.ForwardStage;
import dev.flotilla.step.Claim.GradientStage;
import dev.flotilla.step.Phase;
import dev.flotilla.step.StepContext;
import dev.flotilla.step.Update;
import dev.flotilla.step.Workers;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** A technique that claims every phase and writes down when it is called. */
class PhaseOrderTests {

  private final List<String> calls = new ArrayList<>();

  private final class Everything implements Strategy {

    @Override
    public String key() {
      return "everything";
    }

    @Override
    public List<Claim> claims() {
      return List.of(
          new Claim(Phase.SYNC, "sync"),
          new Claim(Phase.UPDATE, "update"),
          new Claim(Phase.REFINE, GradientStage.CLIP, "clip"),
          new Claim(Phase.REFINE, GradientStage.UNSCALE, "unscale"),
          new Claim(Phase.EXCHANGE, "exchange"),
          new Claim(Phase.BUCKETS, "two buckets"),
          new Claim(Phase.CONDITION, GradientStage.VOTE, "vote"),
          new Claim(Phase.ACCUMULATION, "two"),
          new Claim(ForwardStage.RECOMPUTE, "inner"),
          new Claim(ForwardStage.PRECISION, "outer"));
    }

    @Override
    public Optional<Accumulation> accumulation(OptionalInt microBatch, Consumer<String> notices) {
      return Optional.of((count, _, _) -> count == 2 ? Decision.UPDATE : Decision.CONTINUE);
    }

    @Override
    public Workers workers(StepContext context) {
      calls.add("workers");
      return new Workers()
          .sync(_ -> calls.add("sync"))
          .update(recordingUpdate())
          .refine(GradientStage.CLIP, (_, _) -> calls.add("clip"))
          .refine(GradientStage.UNSCALE, (_, _) -> calls.add("unscale"))
          .exchange((_, bucket) -> List.of(() -> reduced(bucket)))
          .buckets(twoBuckets(context.arena().layout()))
          .condition(GradientStage.VOTE, (_, _) -> calls.add("vote"))
          .forward(ForwardStage.RECOMPUTE, inner -> layer("inner", inner))
          .forward(ForwardStage.PRECISION, inner -> layer("outer", inner));
    }

    private Pending reduced(Bucket bucket) {
      calls.add("exchange bucket " + bucket.index());
      return Pending.DONE;
    }

    private static BucketPlan twoBuckets(Layout layout) {
      long cut = layout.slots().get(1).offset();
      var ranges = List.of(new Bucket.Range(cut, layout.length() - cut), new Bucket.Range(0, cut));
      var buckets = Bucket.of(layout, ranges);
      return () -> buckets;
    }

    private Update recordingUpdate() {
      return new Update() {
        @Override
        public void remember(RunState state) {}

        @Override
        public void apply(double lr) {
          calls.add("update " + lr);
        }

        @Override
        public void close() {
          calls.add("closed");
        }
      };
    }

    private ForwardBackward layer(String name, ForwardBackward inner) {
      return new ForwardBackward() {
        @Override
        public List<LossTerms> forward(List<Batch> batches, MicroStep step) {
          calls.add(name + " forward");
          return inner.forward(batches, step);
        }

        @Override
        public void backward(List<LossTerms> losses, MicroStep step) {
          calls.add(name + " backward");
          inner.backward(losses, step);
        }
      };
    }
  }

  @Test
  void phasesRunInTheirOrderWhateverTheOrderOfClaims() {
    var builder =
        Trainer.on(World.solo())
            .model(new Mlp(8, List.of(), 4))
            .optimizer(new Sgd(0.5))
            .strategy(new Everything())
            .threads(1);
    try (var trainer = builder.build()) {
      var shard = new ColouredPoints(16, 8, 4).batches(4).epoch(0, 0, 1);
      for (int step = 0; step < 2; step++) {
        try (var _ = TensorScope.open()) {
          trainer.step(shard.load(step));
        }
      }
      assertThat(trainer.updates()).isEqualTo(1);
      assertThat(trainer.microSteps()).isEqualTo(2);
    }
    assertThat(calls)
        .containsExactly(
            "workers",
            "outer forward",
            "inner forward",
            "outer backward",
            "inner backward",
            "outer forward",
            "inner forward",
            "outer backward",
            "inner backward",
            "vote",
            "exchange bucket 0",
            "exchange bucket 1",
            "unscale",
            "clip",
            "update 0.5",
            "sync",
            "closed");
  }

  /** A technique whose worker was forgotten would else do nothing, in silence. */
  @Test
  void aClaimWithoutAWorkerIsAnError() {
    var forgetful =
        new Strategy() {
          @Override
          public String key() {
            return "forgetful";
          }

          @Override
          public List<Claim> claims() {
            return List.of(new Claim(Phase.REFINE, GradientStage.CLIP, "nothing"));
          }
        };
    var builder =
        Trainer.on(World.solo())
            .model(new Mlp(8, List.of(), 4))
            .optimizer(new Sgd(0.5))
            .strategy(forgetful)
            .threads(1);
    assertThatThrownBy(builder::build)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("forgetful claims [REFINE], but makes workers for []");
  }
}
