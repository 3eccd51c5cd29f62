package dev.flotilla.engine;

import dev.flotilla.memory.Autocast;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Activations;
import dev.flotilla.model.ForwardMode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.bytedeco.pytorch.BoolOptional;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * Runs spans forward, with or without a graph, again, and backward.
 *
 * <p>A recomputed span runs without a graph, and runs again in backward with the same random
 * numbers and number types; what would make the second run another one is refused by name.
 */
final class SpanRunner {

  private final PartRunner parts;
  // By the number of the part that follows: which tensors gradients flow into.
  private final Map<Integer, List<Boolean>> differentiable = new HashMap<>();

  SpanRunner(PartRunner parts) {
    this.parts = parts;
  }

  /** Runs a span and cuts its outputs off. */
  Passage forward(Span span, Activations input, long microStep) {
    try (var _ = TensorScope.open()) {
      var known = span.isRecomputed() ? differentiable.get(span.to()) : null;
      return known == null
          ? withGraph(span, input, microStep)
          : new Passage(span, withoutGraph(span, input, microStep), known);
    }
  }

  /** Without a graph nobody can tell what is differentiable, so a span's first run has one. */
  private Passage withGraph(Span span, Activations input, long microStep) {
    var outputs = parts.train(span, input, ForwardMode.TRAIN, microStep);
    var flags = outputs.tensors().stream().map(Tensor::requires_grad).toList();
    differentiable.put(span.to(), flags);
    return new Passage(span, outputs, flags);
  }

  /** A change of the input in place would go unnoticed here, and the replay would start from it. */
  private Activations withoutGraph(Span span, Activations input, long microStep) {
    try (var _ = new NoGradGuard()) {
      var before = versions(input);
      var outputs = parts.train(span, input, ForwardMode.TRAIN, microStep);
      if (!versions(input).equals(before)) {
        throw new IllegalStateException(
            ("%s changes its input in place, so it cannot be recomputed: use an operation that"
                    + " makes a new tensor")
                .formatted(parts.name(span.from())));
      }
      return outputs;
    }
  }

  private static List<Long> versions(Activations activations) {
    return activations.tensors().stream().map(Tensor::_version).toList();
  }

  /**
   * Runs a span again, with a graph.
   *
   * @param autocast the number type of the first run
   */
  Activations replay(
      Passage passage, Activations input, long microStep, torch.@Nullable ScalarType autocast) {
    try (var _ = Autocast.like(autocast, parts.device())) {
      var outputs = parts.train(passage.span(), input, ForwardMode.REPLAY, microStep);
      requireSame(passage, outputs);
      return outputs;
    }
  }

  private void requireSame(Passage passage, Activations replayed) {
    var forms = passage.forms();
    boolean fits = forms.size() == replayed.tensors().size();
    for (int i = 0; fits && i < forms.size(); i++) {
      fits = forms.get(i).fits(replayed.tensors().get(i));
    }
    if (!fits) {
      var got = replayed.tensors().stream().map(tensor -> TensorForm.of(tensor, false)).toList();
      throw new IllegalStateException(
          ("%s gave %s when it was recomputed, but %s the first time: a segment that is recomputed"
                  + " must do the same again")
              .formatted(parts.name(passage.span().to() - 1), got, forms));
    }
  }

  /** Runs a graph backward from the gradients of its outputs, of which some may be undefined. */
  static void backward(Activations outputs, List<Tensor> gradients) {
    List<Tensor> roots = new ArrayList<>();
    List<Tensor> seeds = new ArrayList<>();
    for (int i = 0; i < gradients.size(); i++) {
      if (gradients.get(i).defined() && outputs.tensors().get(i).requires_grad()) {
        roots.add(outputs.tensors().get(i));
        seeds.add(gradients.get(i));
      }
    }
    if (!roots.isEmpty()) {
      torch.backward(vector(roots), vector(seeds), new BoolOptional(), false, new TensorVector());
    }
  }

  private static TensorVector vector(List<Tensor> tensors) {
    return new TensorVector(tensors.toArray(Tensor[]::new));
  }

  /** Runs replays so that they leave no trace in the random numbers that anybody draws later. */
  void leavingNoTrace(Runnable replays) {
    try (var _ = TensorScope.open()) {
      var numbers = parts.generator().get_state();
      replays.run();
      parts.generator().set_state(numbers);
    }
  }
}
