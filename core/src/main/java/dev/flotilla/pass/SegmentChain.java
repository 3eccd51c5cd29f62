package dev.flotilla.pass;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Activations;
import dev.flotilla.model.AutogradFunction;
import dev.flotilla.model.Divisors;
import dev.flotilla.model.LossTerms;
import dev.flotilla.model.Score;
import dev.flotilla.state.RunState;
import dev.flotilla.state.Stateful;
import dev.flotilla.world.MissingNativeException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/** The default pass: all parts one after the other, then backward, for one batch after another. */
public final class SegmentChain implements ForwardBackward, Stateful, AutoCloseable {

  private final BoundModel model;
  private final PartRunner parts;
  private final Tape tape;
  private final Set<Integer> pauses;
  private CheckpointingPolicy checkpointing;
  private List<Span> spans = List.of();
  private boolean hasPolicy;
  private boolean scoring;
  private @Nullable Divisors divisors;
  private Score lastScore = Score.NONE;
  private List<Tensor> recordedOutputs = List.of();

  /** Creates the chain of a model for a rank. */
  public SegmentChain(BoundModel model, long seed, int rank) {
    this.model = model;
    parts = new PartRunner(model, seed, rank);
    pauses = model.cuts().pauses();
    checkpointing = _ -> List.of(Span.kept(0, model.parts().size()));
    tape = new Tape(parts, checkpointing);
  }

  /** Sets what passes keep for backward; everything by default. */
  public void checkpointing(CheckpointingPolicy value) {
    checkpointing = value;
    hasPolicy = true;
    tape.checkpointing(value);
  }

  /**
   * Runs one batch.
   *
   * @throws IllegalArgumentException for several: this chain keeps one graph at a time
   */
  @Override
  public List<LossTerms> forward(List<Batch> batches, MicroStep step) {
    if (batches.size() != 1) {
      throw new IllegalArgumentException("one batch at a time, but there are " + batches.size());
    }
    var batch = batches.getFirst();
    var inputs = parts.inputs(batch);
    // Backward keeps what it needs of the outputs; nobody needs the outputs themselves.
    try (var scope = TensorScope.open()) {
      var loss = forward(batch, inputs, step);
      scope.handOut(loss.sum());
      return List.of(loss);
    }
  }

  /** Runs one batch forward; its outputs stay in the caller's scope. */
  public LossTerms forward(Batch batch, MicroStep step) {
    return forward(batch, parts.inputs(batch), step);
  }

  private LossTerms forward(Batch batch, Activations inputs, MicroStep step) {
    model.gate().beginForward();
    spans = withPauses(checkpointing.spans(profiling(batch, step)));
    return loss(tape.forward(spans, inputs, step.index()), batch);
  }

  /** What is recomputed draws its random numbers twice. */
  @Override
  public boolean isRepeated() {
    return !hasPolicy;
  }

  /** Returns what the last forward pass ran through. */
  public List<Span> spans() {
    return spans;
  }

  private ProfilingPass profiling(Batch batch, MicroStep step) {
    return new ProfilingPass(
        parts,
        model.parts().size(),
        batch,
        step.index(),
        outputs -> model.objective().loss(outputs, batch.withTargetsOn(model.device())));
  }

  private List<Span> withPauses(List<Span> spans) {
    var wanted = model.gate().pausesBetweenSegments() ? model.cuts().segmentStarts() : pauses;
    if (wanted.isEmpty()) {
      return spans;
    }
    List<Span> all = new ArrayList<>();
    for (var span : spans) {
      int from = span.from();
      for (int pause : wanted) {
        if (pause > from && pause < span.to() && !span.isRecomputed()) {
          all.add(Span.kept(from, pause));
          from = pause;
        }
      }
      all.add(new Span(from, span.to(), span.isRecomputed()));
    }
    return all;
  }

  /** Sets what the parts of the next losses are divided by; null for those of each batch alone. */
  public void divideBy(@Nullable Divisors value) {
    divisors = value;
  }

  private LossTerms divided(Activations outputs, Batch batch) {
    var objective = model.objective();
    var whole = divisors;
    return whole == null
        ? objective.loss(outputs, batch)
        : objective.parts().orElseThrow().loss(outputs, batch, whole);
  }

  /** Computes the loss, and the score if it is wanted. */
  LossTerms loss(Activations outputs, Batch given) {
    var batch = given.withTargetsOn(model.device());
    try {
      var loss = MissingNativeException.explain(() -> divided(outputs, batch));
      if (parts.isRecorded()) {
        recordedOutputs =
            outputs.tensors().stream().map(it -> TensorScope.keep(it.detach())).toList();
      }
      // After the loss, which checks that outputs and targets fit together.
      if (scoring) {
        lastScore =
            lastScore.plus(
                MissingNativeException.explain(() -> model.objective().score(outputs, batch)));
      }
      return loss;
    } catch (MissingNativeException absent) {
      throw absent;
    } catch (RuntimeException failure) {
      if (OutOfMemoryException.isMeantBy(failure)) {
        throw OutOfMemoryException.in("loss", model.device(), failure);
      }
      throw ModelException.inLoss(outputs, failure);
    }
  }

  /** Sets whether the next forward passes count right answers, which costs a little time. */
  public void score(boolean wanted) {
    scoring = wanted;
    takeScore().drop();
  }

  /** Tells whether forward passes count right answers. */
  boolean isScoring() {
    return scoring;
  }

  /**
   * Runs an action whose pass is recorded to be repeated with other batches.
   *
   * @param action given the outputs of the pass once it has run, which it then owns; of one that
   *     fails nothing is left
   */
  <T> T whileRecorded(Function<Supplier<List<Tensor>>, T> action) {
    parts.recorded(true);
    boolean isDone = false;
    try {
      T result = action.apply(() -> recordedOutputs);
      isDone = true;
      return result;
    } finally {
      parts.recorded(false);
      if (!isDone) {
        recordedOutputs.forEach(TensorScope::free);
        abandon();
      }
      recordedOutputs = List.of();
    }
  }

  /** Refuses targets of a batch whose pass is to be repeated, if there is no place for them. */
  void requireTargets(List<Tensor> outputs, Batch batch) {
    var activations = new Activations(outputs);
    try {
      model.objective().requireTargets(activations, batch);
    } catch (IllegalArgumentException wrong) {
      throw ModelException.inLoss(activations, wrong);
    }
  }

  /** Counts right answers of a batch whose pass was repeated, if they are wanted. */
  void scoreRepeated(List<Tensor> outputs, Batch batch) {
    if (scoring) {
      try (var _ = TensorScope.open()) {
        var known = batch.withTargetsOn(model.device());
        lastScore = lastScore.plus(model.objective().score(new Activations(outputs), known));
      }
    }
  }

  /**
   * Returns the right answers of the batches since scoring was asked for, which are the caller's
   * from now on.
   */
  public Score takeScore() {
    var taken = lastScore;
    lastScore = Score.NONE;
    return taken;
  }

  @Override
  public void backward(List<LossTerms> losses, MicroStep step) {
    losses.forEach(loss -> backward(loss, step));
  }

  /** Runs one loss backward. */
  public void backward(LossTerms loss, MicroStep step) {
    try {
      if (!spans.isEmpty()) {
        parts.enterBackward(spans.getLast());
      }
      loss.sum().backward();
      AutogradFunction.backwardEnded();
      tape.backward();
    } catch (RuntimeException failure) {
      if (OutOfMemoryException.isMeantBy(failure)) {
        throw OutOfMemoryException.in("backward" + tape.place(), model.device(), failure);
      }
      throw failure;
    }
  }

  /** Drops what a pass that has failed left behind. */
  public void abandon() {
    tape.clear();
  }

  /** Runs all parts in evaluation mode; the caller has switched gradients off. */
  Activations evaluate(Batch batch) {
    model.gate().beginForward();
    return parts.evaluate(batch);
  }

  public Map<String, Object> metrics() {
    return checkpointing.metrics();
  }

  /** Returns the seeds of all parts in a micro-step. */
  long[] seeds(MicroStep step) {
    return parts.seeds(step.index());
  }

  BoundModel model() {
    return model;
  }

  PartRunner parts() {
    return parts;
  }

  /**
   * Nothing of the chain's own: each part's generator is seeded by its place in the run. The state
   * of the default generator is kept for models that draw from it elsewhere.
   */
  @Override
  public void remember(RunState state) {
    try (var _ = TensorScope.open()) {
      var numbers = parts.generator().get_state();
      state.own().tensor("generator", numbers);
      if (!state.isSaving()) {
        parts.generator().set_state(numbers);
      }
    }
  }

  @Override
  public void close() {
    takeScore().drop();
    tape.clear();
    checkpointing.close();
    parts.close();
  }
}
