package dev.flotilla.train;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.Layout;
import dev.flotilla.data.Batch;
import dev.flotilla.exchange.BucketPlan;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.LossTerms;
import dev.flotilla.optim.Sgd;
import dev.flotilla.pass.Accumulation.Decision;
import dev.flotilla.pass.ForwardBackward;
import dev.flotilla.pass.MicroStep;
import dev.flotilla.state.RunState;
import dev.flotilla.step.Claim;
import dev.flotilla.step.Claim.ForwardStage;
import dev.flotilla.step.Claim.GradientStage;
import dev.flotilla.step.Update;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.util.ArrayList;
import java.util.List;
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
          new Claim.Follow("sync", _ -> _ -> calls.add("sync")),
          new Claim.Apply("update", _ -> recordingUpdate()),
          new Claim.Refine(GradientStage.CLIP, "clip", _ -> (_, _) -> calls.add("clip")),
          new Claim.Refine(GradientStage.UNSCALE, "unscale", _ -> (_, _) -> calls.add("unscale")),
          new Claim.Share(
              "exchange", _ -> (_, bucket) -> () -> calls.add("exchange from " + bucket.offset())),
          new Claim.Buckets("two buckets", context -> twoBuckets(context.arena().layout())),
          new Claim.Condition(GradientStage.VOTE, "vote", _ -> (_, _) -> calls.add("vote")),
          new Claim.Accumulate(
              "two", (_, _) -> (count, _, _) -> count == 2 ? Decision.UPDATE : Decision.CONTINUE),
          new Claim.Forward(ForwardStage.RECOMPUTE, "inner", _ -> inner -> layer("inner", inner)),
          new Claim.Forward(ForwardStage.PRECISION, "outer", _ -> inner -> layer("outer", inner)));
    }

    private static BucketPlan twoBuckets(Layout layout) {
      var buckets = List.of(new Bucket(16, layout.length() - 16), new Bucket(0, 16));
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
            "outer forward",
            "inner forward",
            "outer backward",
            "inner backward",
            "outer forward",
            "inner forward",
            "outer backward",
            "inner backward",
            "vote",
            "exchange from 16",
            "exchange from 0",
            "unscale",
            "clip",
            "update 0.5",
            "sync",
            "closed");
  }
}
