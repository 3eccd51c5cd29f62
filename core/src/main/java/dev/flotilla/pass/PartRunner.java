package dev.flotilla.pass;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.Autocast;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.GraphRecorder;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Activations;
import dev.flotilla.model.CustomFunction;
import dev.flotilla.model.FinalFunction;
import dev.flotilla.model.ForwardMode;
import dev.flotilla.model.Products;
import dev.flotilla.model.Segment;
import dev.flotilla.world.MissingNativeException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.bytedeco.pytorch.Generator;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * Runs parts of a model, each in a scope of its own and with random numbers that depend on its
 * place in the run alone, so that recomputation draws the same.
 */
final class PartRunner implements AutoCloseable {

  private static final Products.Use NOTHING_KEPT = () -> {};

  private final BoundModel model;
  private final long seed;
  private final int rank;
  private final Generator generator;
  private boolean isRecorded;

  PartRunner(BoundModel model, long seed, int rank) {
    this.model = model;
    this.seed = seed;
    this.rank = rank;
    try (var _ = TensorScope.open()) {
      generator = TensorScope.keep(model.device().generator());
    }
  }

  /** Runs consecutive parts as they are in training. */
  Activations train(Span span, Activations input, long microStep) {
    return train(span, input, microStep, null, _ -> {});
  }

  /**
   * Runs consecutive parts as they are in training.
   *
   * @param saved takes what custom functions and products give, where no graph is recorded; null to
   *     do without them
   * @param beforeFinalFunction hears what goes into the final function of the last part, or its
   *     outputs
   */
  Activations train(
      Span span,
      Activations input,
      long microStep,
      @Nullable SavedOutputs saved,
      Consumer<Activations> beforeFinalFunction) {
    int last = span.to() - 1;
    try (var relay = new Relay(input)) {
      try (var _ = saved == null ? NOTHING_KEPT : saved.keepingProducts()) {
        upToFinalFunction(span.from(), span.to(), relay, ForwardMode.TRAIN, microStep, saved);
      }
      beforeFinalFunction.accept(relay.current());
      relay.pass(end(last, relay.current(), ForwardMode.TRAIN));
      return relay.arrive();
    }
  }

  /**
   * Runs consecutive parts again, but for the final function of the last one if it has one, and for
   * custom functions that have left what they gave.
   */
  Recomputation recompute(Span span, Activations input, long microStep, SavedOutputs saved) {
    List<Recomputation.Cut> cuts = new ArrayList<>();
    var current = input;
    int from = span.from();
    try (var _ = saved.givingProducts()) {
      for (int part : saved.parts()) {
        var before = again(from, part, current, microStep, true);
        current = leaves(part, before, saved.of(part));
        cuts.add(new Recomputation.Cut(part, before, current));
        from = part + 1;
      }
      return new Recomputation(cuts, again(from, span.to(), current, microStep, false));
    }
  }

  private Activations again(int from, int to, Activations input, long microStep, boolean isWhole) {
    try (var relay = new Relay(input)) {
      upToFinalFunction(from, to, relay, ForwardMode.RECOMPUTE, microStep, null);
      if (isWhole && to > from) {
        relay.pass(end(to - 1, relay.current(), ForwardMode.RECOMPUTE));
      }
      return relay.arrive();
    }
  }

  /** Whoever goes on from a custom function's outputs collects gradients there. */
  private Activations leaves(int part, Activations input, List<Tensor> saved) {
    try (var scope = TensorScope.open()) {
      var outputs = customFunction(part).outputs(input, saved).tensors();
      return new Activations(
          outputs.stream()
              .map(tensor -> scope.handOut(leaf(tensor, Relay.holds(input, tensor))))
              .toList());
    }
  }

  private static Tensor leaf(Tensor tensor, boolean hasPassed) {
    return tensor.detach().set_requires_grad(!hasPassed || tensor.requires_grad());
  }

  private void upToFinalFunction(
      int from,
      int to,
      Relay relay,
      ForwardMode mode,
      long microStep,
      @Nullable SavedOutputs saved) {
    for (int part = from; part < to; part++) {
      relay.pass(
          saved != null
                  && saved.takesFunctions()
                  && hasCustomFunctionFor(part, relay.current(), mode)
              ? customFunction(part, relay.current(), mode, microStep, saved)
              : body(part, relay.current(), mode, microStep));
      if (part < to - 1) {
        relay.pass(end(part, relay.current(), mode));
      }
    }
  }

  private boolean hasCustomFunctionFor(int part, Activations input, ForwardMode mode) {
    var function = model.parts().get(part).part().customFunction();
    return function != null && function.suits(input, mode);
  }

  CustomFunction customFunction(int part) {
    return Objects.requireNonNull(model.parts().get(part).part().customFunction());
  }

  private Activations customFunction(
      int part, Activations input, ForwardMode mode, long microStep, SavedOutputs saved) {
    seed(part, microStep);
    return run(
        part,
        (tensors, phase) -> {
          var run = customFunction(part).forward(tensors, phase);
          saved.keep(part, run.saved());
          return run.outputs();
        },
        input,
        mode);
  }

  /** Runs a part up to its final function. */
  Activations body(int part, Activations input, ForwardMode mode, long microStep) {
    seed(part, microStep);
    return run(part, model.parts().get(part).part().body(), input, mode);
  }

  /** Runs the final function of a part, if it has one. */
  Activations end(int part, Activations body, ForwardMode mode) {
    var last = finalFunction(part);
    return last == null ? body : run(part, last::apply, body, mode);
  }

  @Nullable FinalFunction finalFunction(int part) {
    return model.parts().get(part).part().finalFunction();
  }

  /** Sets whether the next passes are recorded to be repeated, with seeds that are given then. */
  void recorded(boolean value) {
    isRecorded = value;
  }

  boolean isRecorded() {
    return isRecorded;
  }

  private void seed(int part, long microStep) {
    if (isRecorded) {
      GraphRecorder.drawFor(part);
    } else {
      generator.set_current_seed(seedOf(part, microStep));
    }
  }

  private long seedOf(int part, long microStep) {
    var place = model.parts().get(part);
    return place.index() == 0
        ? Seeds.mix(seed, rank, microStep, place.segment())
        : Seeds.mix(seed, rank, microStep, place.segment(), place.index());
  }

  /** Returns the seeds of all parts. */
  long[] seeds(long microStep) {
    return IntStream.range(0, model.parts().size())
        .mapToLong(part -> seedOf(part, microStep))
        .toArray();
  }

  /** Runs passes of this rank alone, which other ranks do not make. */
  void alone(Runnable passes) {
    model.gate().whileAlone(passes);
  }

  /** Waits until the parameters of a part are there. */
  void enter(int part) {
    waitFor(part, () -> model.gate().enter(model.parts().get(part).segment()));
  }

  private void waitFor(int part, Runnable parameters) {
    try {
      parameters.run();
    } catch (RuntimeException failure) {
      if (OutOfMemoryException.isMeantBy(failure)) {
        throw OutOfMemoryException.in("parameters of " + name(part), model.device(), failure);
      }
      throw failure;
    }
  }

  /** Waits until the parameters of a span are there, before backward goes through it. */
  void enterBackward(Span span) {
    int first = model.parts().get(span.from()).segment();
    int last = model.parts().get(span.to() - 1).segment();
    waitFor(span.from(), () -> model.gate().enterBackward(first, last));
  }

  /**
   * Runs all parts in evaluation mode, in float32, or in 16 bits where parameters have no more;
   * outputs are float32.
   */
  Activations evaluate(Batch batch) {
    if (!model.arena().isHalf()) {
      return forward(batch);
    }
    try (var _ = Autocast.to(torch.ScalarType.BFloat16, model.device())) {
      return new Activations(forward(batch).tensors().stream().map(PartRunner::widened).toList());
    }
  }

  private static Tensor widened(Tensor output) {
    return output.scalar_type().intern() == torch.ScalarType.BFloat16
        ? output.to(torch.ScalarType.Float)
        : output;
  }

  private Activations forward(Batch batch) {
    try (var relay = new Relay(inputs(batch))) {
      for (int part = 0; part < model.parts().size(); part++) {
        var forward = model.parts().get(part).part().forward();
        relay.pass(run(part, forward, relay.current(), ForwardMode.EVALUATE));
      }
      return relay.arrive();
    }
  }

  private Activations run(int part, Segment.Forward forward, Activations input, ForwardMode mode) {
    enter(part);
    // Handles of intermediates keep their memory alive, so each part frees its own at once.
    try (var _ = TensorScope.open()) {
      var output = MissingNativeException.explain(() -> forward.apply(input, mode));
      keepMade(output.tensors(), input);
      return output;
    } catch (MissingNativeException absent) {
      throw absent;
    } catch (RuntimeException failure) {
      if (OutOfMemoryException.isMeantBy(failure)) {
        throw OutOfMemoryException.in("segment " + name(part), model.device(), failure);
      }
      throw ModelException.inSegment(name(part), input, failure);
    }
  }

  /** Keeps what a part has made, each handle once. */
  private static void keepMade(List<Tensor> outputs, Activations input) {
    for (int i = 0; i < outputs.size(); i++) {
      var tensor = outputs.get(i);
      if (!Relay.holds(input, tensor) && !Relay.holds(outputs.subList(0, i), tensor)) {
        TensorScope.keep(tensor);
      }
    }
  }

  String name(int part) {
    return model.parts().get(part).part().name();
  }

  /** Returns what the first part takes. */
  Activations inputs(Batch batch) {
    var inputs = new Tensor[batch.inputs().size()];
    for (int i = 0; i < inputs.length; i++) {
      inputs[i] = inModelPrecision(model.device().bring(batch.inputs().get(i)));
    }
    return Activations.of(inputs);
  }

  private Tensor inModelPrecision(Tensor input) {
    boolean convert =
        model.precision() == Precision.FLOAT64
            && input.scalar_type().intern() == torch.ScalarType.Float;
    return convert ? input.to(torch.ScalarType.Double) : input;
  }

  ComputeDevice device() {
    return model.device();
  }

  Generator generator() {
    return generator;
  }

  @Override
  public void close() {
    TensorScope.free(generator);
  }
}
