package dev.flotilla.exchange;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.arena.Bucket;
import dev.flotilla.data.Batch;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Activations;
import dev.flotilla.model.Classification;
import dev.flotilla.model.LossTerms;
import dev.flotilla.model.Model;
import dev.flotilla.model.Objective;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Segment;
import dev.flotilla.model.Shape;
import dev.flotilla.model.Weights;
import dev.flotilla.optim.Sgd;
import dev.flotilla.pass.ForwardBackward;
import dev.flotilla.pass.MicroStep;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.step.Claim;
import dev.flotilla.step.Claim.ForwardStage;
import dev.flotilla.step.Phase;
import dev.flotilla.step.StepContext;
import dev.flotilla.step.Workers;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorBase;
import org.bytedeco.pytorch.VoidTensorHook;
import org.junit.jupiter.api.Test;

/** Buckets leave while backward goes on, and never without their gradients. */
class OverlapTests {

  private static final int STEPS = 5;
  private static final long EACH = -1;

  private final List<String> notes = new CopyOnWriteArrayList<>();

  /** Two matrices in a row and one that is used or not; tells when backward is between the two. */
  private record TwoLayers(Runnable between, boolean usesThird) implements Model, Segment {

    // A hook that is freed fails in backward.
    private static final List<VoidTensorHook> HOOKS = new CopyOnWriteArrayList<>();

    @Override
    public String name() {
      return "both";
    }

    @Override
    public Objective objective() {
      return new Classification();
    }

    @Override
    public List<Segment> segments() {
      return List.of(this);
    }

    @Override
    public List<ParameterSpec> parameters() {
      return List.of(weight("first"), weight("second"), weight("third"));
    }

    private static ParameterSpec weight(String layer) {
      return ParameterSpec.weight(layer + ".weight", Shape.of(8, 8), 8);
    }

    @Override
    public List<dev.flotilla.model.BufferSpec> buffers() {
      return List.of();
    }

    @Override
    public Forward bind(Weights weights) {
      var first = weights.parameter("first.weight");
      var second = weights.parameter("second.weight");
      var third = weights.parameter("third.weight");
      return (input, _) -> {
        var hidden = input.tensors().getFirst().matmul(first);
        follow(hidden);
        var output = hidden.matmul(second);
        return Activations.of(usesThird ? output.matmul(third) : output);
      };
    }

    private void follow(Tensor hidden) {
      var hook =
          new VoidTensorHook() {
            @Override
            public void call(TensorBase gradient) {
              between.run();
            }
          };
      HOOKS.add(TensorScope.keep(hook));
      hidden.register_hook(hook);
    }
  }

  /** Cuts behind the first layer, and does something after a bucket. */
  private record TwoBuckets(Runnable shared) implements Strategy {

    @Override
    public String key() {
      return "two_buckets";
    }

    @Override
    public List<Claim> claims() {
      return List.of(new Claim(Phase.BUCKETS, "two buckets"), new Claim(Phase.EXCHANGE, "dense"));
    }

    @Override
    public Workers workers(StepContext context) {
      return new Workers()
          .buckets(plan(context))
          .exchange(telling(Exchange.dense(context.collective())));
    }

    private static BucketPlan plan(StepContext context) {
      var layout = context.arena().layout();
      long cut = layout.slots().get(1).offset();
      var buckets =
          Bucket.of(
              layout,
              List.of(new Bucket.Range(cut, layout.length() - cut), new Bucket.Range(0, cut)));
      return new BucketPlan() {
        @Override
        public List<Bucket> buckets() {
          return buckets;
        }

        @Override
        public boolean overlapsBackward() {
          return true;
        }
      };
    }

    private Exchange telling(Exchange dense) {
      return (gradients, bucket) ->
          dense.reduce(gradients, bucket).stream().map(stage -> telling(stage, bucket)).toList();
    }

    private Stage telling(Stage dense, Bucket bucket) {
      return () -> {
        var pending = dense.start();
        return () -> {
          pending.await();
          if (!bucket.isLast()) {
            shared.run();
          }
        };
      };
    }
  }

  /** After the backward of one micro-step, or of each, gives a parameter one more gradient. */
  private record OneGradientMore(long when) implements Strategy {

    @Override
    public String key() {
      return "one_more";
    }

    @Override
    public List<Claim> claims() {
      return List.of(new Claim(ForwardStage.WEIGHT, "one more"));
    }

    @Override
    public Workers workers(StepContext context) {
      return new Workers().forward(ForwardStage.WEIGHT, inner -> layer(context, inner));
    }

    private ForwardBackward layer(StepContext context, ForwardBackward inner) {
      return new ForwardBackward() {
        @Override
        public List<LossTerms> forward(List<Batch> batches, MicroStep step) {
          return inner.forward(batches, step);
        }

        @Override
        public void backward(List<LossTerms> losses, MicroStep step) {
          inner.backward(losses, step);
          if (when == EACH || step.index() == when) {
            context.model().parameter("second.weight").sum().backward();
          }
        }
      };
    }
  }

  private void train(World world, Model model, Strategy... techniques) {
    var builder =
        Trainer.on(world)
            .model(model)
            .optimizer(new Sgd(0.01))
            .strategy(techniques)
            .events(
                event -> {
                  if (event instanceof TrainingEvent.Noted(var text)) {
                    notes.add(text);
                  }
                })
            .threads(1);
    try (var trainer = builder.build()) {
      var shard = new ColouredPoints(64, 8, 8).batches(4).epoch(0, world.rank(), world.size());
      for (int step = 0; step < STEPS; step++) {
        try (var _ = TensorScope.open()) {
          trainer.step(shard.load(step));
        }
      }
    }
  }

  @Test
  void aBucketIsSharedBeforeBackwardHasComeToTheNext() {
    Ranks.of(2)
        .callWorlds(
            world -> {
              var backwards = new AtomicInteger();
              var shared = new Semaphore(0);
              // The last backward waits for its own first bucket, which would never come if
              // buckets were shared after backward.
              Runnable between =
                  () -> {
                    if (backwards.incrementAndGet() == STEPS) {
                      assertThat(acquired(shared, STEPS)).isTrue();
                    }
                  };
              train(world, new TwoLayers(between, true), new TwoBuckets(shared::release));
              assertThat(backwards).hasValue(STEPS);
              return world.rank();
            });
  }

  private static boolean acquired(Semaphore semaphore, int permits) {
    try {
      return semaphore.tryAcquire(permits, 10, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void namesOnceWhoseGradientNeverCame() {
    Ranks.of(2)
        .callWorlds(
            world -> {
              train(world, new TwoLayers(() -> {}, false), new TwoBuckets(() -> {}));
              return world.rank();
            });

    assertThat(notes)
        .filteredOn(note -> note.contains("no gradient came for third.weight"))
        .hasSize(2)
        .first()
        .asString()
        .contains("2 of 2 buckets waited for the end of backward");
  }

  @Test
  void refusesAGradientThatComesAfterItsBucketHasLeft() {
    List<String> messages = new ArrayList<>();
    assertThatThrownBy(
            () ->
                Ranks.of(2)
                    .callWorlds(
                        world -> {
                          train(
                              world,
                              new TwoLayers(() -> {}, true),
                              new TwoBuckets(() -> {}),
                              new OneGradientMore(STEPS - 1));
                          return world.rank();
                        }))
        .satisfies(failure -> messages.add(String.valueOf(failure.getCause())));

    assertThat(messages)
        .first()
        .asString()
        .contains("second.weight got gradient number 2 after its bucket had been sent")
        .contains("set fuse_all_reduce.overlap to false");
  }

  @Test
  void learnsHowManyGradientsAParameterGets() {
    Ranks.of(2)
        .callWorlds(
            world -> {
              var model = new TwoLayers(() -> {}, true);
              train(world, model, new TwoBuckets(() -> {}), new OneGradientMore(EACH));
              return world.rank();
            });

    assertThat(notes).noneMatch(note -> note.contains("waited for the end of backward"));
  }
}
