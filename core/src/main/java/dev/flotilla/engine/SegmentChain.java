package dev.flotilla.engine;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Activations;
import dev.flotilla.model.ForwardMode;
import dev.flotilla.model.LossTerms;
import dev.flotilla.model.Score;
import dev.flotilla.state.RunState;
import dev.flotilla.state.Stateful;
import org.bytedeco.pytorch.Generator;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * The default pass: segments one after the other, each in a scope of its own, then one backward.
 */
public final class SegmentChain implements ForwardBackward, Stateful, AutoCloseable {

  private final BoundModel model;
  private final long seed;
  private final int rank;
  private final Generator generator;
  private boolean scoring;
  private Score lastScore = Score.NONE;

  /** Creates the chain of a model for a rank. */
  public SegmentChain(BoundModel model, long seed, int rank) {
    this.model = model;
    this.seed = seed;
    this.rank = rank;
    try (var _ = TensorScope.open()) {
      generator = TensorScope.keep(torch.getDefaultCPUGenerator());
    }
  }

  @Override
  public LossTerms forward(Batch batch, MicroStep step) {
    var outputs = outputs(batch, step);
    if (scoring) {
      lastScore = model.objective().score(outputs, batch);
    }
    return loss(outputs, batch);
  }

  private LossTerms loss(Activations outputs, Batch batch) {
    try {
      return model.objective().loss(outputs, batch);
    } catch (RuntimeException failure) {
      throw ModelException.inLoss(outputs, failure);
    }
  }

  /** Sets whether the next forward passes count right answers, which costs a little time. */
  public void score(boolean wanted) {
    scoring = wanted;
    lastScore = Score.NONE;
  }

  /** Returns the right answers of the last scored batch. */
  public Score lastScore() {
    return lastScore;
  }

  @Override
  public void backward(LossTerms loss, MicroStep step) {
    loss.sum().backward();
  }

  /** Runs all segments in training mode. */
  Activations outputs(Batch batch, MicroStep step) {
    var activations = inputs(batch);
    for (int i = 0; i < model.segments().size(); i++) {
      generator.set_current_seed(Seeds.mix(seed, rank, step.index(), i));
      activations = run(i, activations, ForwardMode.TRAIN);
    }
    return activations;
  }

  /** Runs all segments in evaluation mode; the caller has switched gradients off. */
  Activations evaluate(Batch batch) {
    var activations = inputs(batch);
    for (int i = 0; i < model.segments().size(); i++) {
      activations = run(i, activations, ForwardMode.EVALUATE);
    }
    return activations;
  }

  private Activations run(int segment, Activations input, ForwardMode mode) {
    // Handles of intermediates keep their memory alive, so each segment frees its own at once.
    try (var scope = TensorScope.open()) {
      var output = model.segments().get(segment).forward().apply(input, mode);
      output.tensors().forEach(scope::handOut);
      return output;
    } catch (RuntimeException failure) {
      throw ModelException.inSegment(model.segments().get(segment).name(), input, failure);
    }
  }

  private Activations inputs(Batch batch) {
    return new Activations(batch.inputs().stream().map(this::inModelPrecision).toList());
  }

  private Tensor inModelPrecision(Tensor input) {
    boolean convert =
        model.precision() == Precision.FLOAT64
            && input.scalar_type().intern() == torch.ScalarType.Float;
    return convert ? input.to(torch.ScalarType.Double) : input;
  }

  /**
   * Nothing of the chain's own: each segment's generator is seeded by its place in the run. The
   * state of the default generator is kept for models that draw from it elsewhere.
   */
  @Override
  public void remember(RunState state) {
    try (var _ = TensorScope.open()) {
      var numbers = generator.get_state();
      state.own().tensor("generator", numbers);
      if (!state.isSaving()) {
        generator.set_state(numbers);
      }
    }
  }

  @Override
  public void close() {
    TensorScope.free(generator);
  }
}
