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
 * Runs a chain forward span by span, and backward the same way.
 *
 * <p>Between two spans the graph is cut: the next span starts from tensors that collect the
 * gradient. A recomputed span runs without a graph, and runs again in backward with the same random
 * numbers and number types.
 */
final class Tape {

  private final PartRunner parts;
  private final List<Passage> passages = new ArrayList<>();
  // By the number of the part that follows: which tensors gradients flow into.
  private final Map<Integer, List<Boolean>> differentiable = new HashMap<>();
  private Retention retention;
  private Activations inputs = Activations.of();
  private long microStep;
  private torch.@Nullable ScalarType autocast;

  Tape(PartRunner parts, Retention retention) {
    this.parts = parts;
    this.retention = retention;
  }

  /** Sets who hears of the passes to come and stores what they keep. */
  void retention(Retention value) {
    retention = value;
  }

  /** Runs all spans; what the last one returns has its graph and belongs to the caller's scope. */
  Activations forward(List<Span> spans, Activations input, long step) {
    clear();
    inputs = input;
    microStep = step;
    autocast = Autocast.current();
    var current = input;
    for (var span : spans.subList(0, spans.size() - 1)) {
      current = cross(span, current);
    }
    try (var scope = TensorScope.open()) {
      var outputs = parts.train(spans.getLast(), current, ForwardMode.TRAIN, step);
      outputs.tensors().forEach(scope::handOut);
      retention.passed();
      return outputs;
    }
  }

  private Activations cross(Span span, Activations input) {
    try (var _ = TensorScope.open()) {
      var known = span.isRecomputed() ? differentiable.get(span.to()) : null;
      var outputs =
          known == null
              ? parts.train(span, input, ForwardMode.TRAIN, microStep)
              : withoutGraph(span, input);
      retention.passed();
      if (span.isRecomputed() && retention.storehouse().moves() && !passages.isEmpty()) {
        passages.getLast().store(retention.storehouse());
      }
      passages.add(new Passage(span, outputs, known == null ? learnt(span, outputs) : known));
      return passages.getLast().pause();
    }
  }

  /** Without a graph nobody can tell what is differentiable, so a span's first run has one. */
  private List<Boolean> learnt(Span span, Activations outputs) {
    var flags = outputs.tensors().stream().map(Tensor::requires_grad).toList();
    differentiable.put(span.to(), flags);
    return flags;
  }

  /** A change of the input in place would go unnoticed here, and the replay would start from it. */
  private Activations withoutGraph(Span span, Activations input) {
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

  /** Goes on where the backward of the loss has paused. */
  void backward() {
    if (passages.isEmpty()) {
      retention.ended();
      return;
    }
    try (var _ = TensorScope.open()) {
      // Replays must leave no trace in the random numbers that anybody draws after them.
      var numbers = parts.generator().get_state();
      for (int i = passages.size() - 1; i >= 0; i--) {
        backward(i);
        passages.removeLast().close();
      }
      parts.generator().set_state(numbers);
    }
    retention.ended();
  }

  private void backward(int index) {
    var passage = passages.get(index);
    if (index > 0) {
      passages.get(index - 1).fetch();
    }
    if (index > 1) {
      passages.get(index - 2).prepare();
    }
    try (var _ = TensorScope.open()) {
      var gradients = passage.takeGradients();
      var graph = passage.graph();
      backward(graph == null ? replay(index) : graph, gradients);
    }
  }

  private Activations replay(int index) {
    var passage = passages.get(index);
    var input = index == 0 ? inputs : passages.get(index - 1).pause();
    long start = System.nanoTime();
    try (var _ = Autocast.like(autocast)) {
      var outputs = parts.train(passage.span(), input, ForwardMode.REPLAY, microStep);
      requireSame(passage, outputs);
      retention.passed();
      return outputs;
    } finally {
      retention.replayed(System.nanoTime() - start);
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
      torch.backward(vector(roots), vector(seeds), new BoolOptional(), false, vector());
    }
  }

  private static TensorVector vector(List<Tensor> tensors) {
    return new TensorVector(tensors.toArray(Tensor[]::new));
  }

  private static TensorVector vector() {
    return new TensorVector();
  }

  /** Drops what a pass that has failed left behind. */
  void clear() {
    passages.forEach(Passage::close);
    passages.clear();
  }
}
