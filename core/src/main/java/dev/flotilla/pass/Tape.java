package dev.flotilla.pass;

import dev.flotilla.memory.Autocast;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Activations;
import dev.flotilla.model.AutogradFunction;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * Runs a chain forward span by span, and backward the same way.
 *
 * <p>Between two spans the graph is cut: the next span starts from tensors that collect the
 * gradient.
 */
final class Tape {

  private final PartRunner parts;
  private final SpanRunner spanRunner;
  private final List<SpanOutputs> spanOutputs = new ArrayList<>();
  private CheckpointingPolicy checkpointing;
  private Activations inputs = Activations.of();
  private long microStep;
  private torch.@Nullable ScalarType autocast;

  Tape(PartRunner parts, CheckpointingPolicy checkpointing) {
    this.parts = parts;
    this.spanRunner = new SpanRunner(parts);
    this.checkpointing = checkpointing;
  }

  /** Sets who hears of the passes to come and stores what they keep. */
  void checkpointing(CheckpointingPolicy value) {
    checkpointing = value;
  }

  /** Runs all spans; what the last one returns has its graph and belongs to the caller's scope. */
  Activations forward(List<Span> spans, Activations input, long step) {
    clear();
    inputs = input;
    microStep = step;
    autocast = Autocast.current(parts.device());
    var current = input;
    for (var span : spans.subList(0, spans.size() - 1)) {
      current = cross(span, current);
    }
    try (var scope = TensorScope.open()) {
      var outputs = parts.train(spans.getLast(), current, step);
      outputs.tensors().forEach(scope::handOut);
      checkpointing.passed();
      return outputs;
    }
  }

  private Activations cross(Span span, Activations input) {
    var before =
        span.isRecomputed() && checkpointing.savedTensorStore().moves() && !spanOutputs.isEmpty()
            ? spanOutputs.getLast()
            : null;
    if (before != null) {
      before.store(checkpointing.savedTensorStore());
    }
    var saved =
        new SavedOutputs(checkpointing.savesFunctionOutputs(), checkpointing.keptProducts());
    var outputs = spanRunner.forward(span, input, microStep, saved);
    checkpointing.passed();
    if (before != null) {
      before.leave();
    }
    spanOutputs.add(outputs);
    return outputs.pause();
  }

  /** Goes on where the backward of the loss has paused. */
  void backward() {
    if (!spanOutputs.isEmpty()) {
      spanRunner.leavingNoTrace(
          () -> {
            for (int i = spanOutputs.size() - 1; i >= 0; i--) {
              backward(i);
              AutogradFunction.backwardEnded();
              spanOutputs.removeLast().close();
            }
          });
    }
    checkpointing.ended();
  }

  private void backward(int index) {
    if (index > 0) {
      spanOutputs.get(index - 1).fetch();
    }
    if (index > 1) {
      spanOutputs.get(index - 2).prepare();
    }
    parts.enterBackward(spanOutputs.get(index).span());
    try (var _ = TensorScope.open()) {
      var outputs = spanOutputs.get(index);
      var gradients = outputs.takeGradients();
      var graph = outputs.graph();
      if (graph == null) {
        // A span without anything to train gets no gradients, and need not run again.
        if (gradients.stream().anyMatch(Tensor::defined)) {
          recompute(index, gradients);
        }
      } else {
        SpanRunner.backward(SpanRunner.paired(graph, gradients));
      }
    }
  }

  private void recompute(int index, List<Tensor> gradients) {
    var outputs = spanOutputs.get(index);
    var input = index == 0 ? inputs : spanOutputs.get(index - 1).pause();
    long start = System.nanoTime();
    List<Recomputation.Cut> cuts;
    Tensor lean = null;
    try (var scope = TensorScope.open()) {
      var recomputed = spanRunner.recompute(outputs, input, microStep, autocast);
      checkpointing.recomputed(System.nanoTime() - start);
      if (spanRunner.canStart(outputs, recomputed.outputs())) {
        lean = scope.handOut(spanRunner.start(outputs, recomputed.outputs(), gradients));
        checkpointing.passed();
      } else {
        var seeds = spanRunner.backward(outputs, recomputed.outputs(), gradients);
        checkpointing.passed();
        SpanRunner.backward(seeds);
      }
      cuts = recomputed.cuts();
      cuts.forEach(cut -> cut.input().tensors().forEach(scope::handOut));
      cuts.forEach(cut -> cut.outputs().tensors().forEach(scope::handOut));
    }
    if (lean != null) {
      lean.backward();
    }
    for (var cut : cuts.reversed()) {
      try (var _ = TensorScope.open()) {
        SpanRunner.backward(spanRunner.backward(outputs, cut));
      }
    }
  }

  /** Returns where backward is, for messages; nothing where it does not pause. */
  String place() {
    return spanOutputs.isEmpty() ? "" : " of " + parts.name(spanOutputs.getLast().span().to() - 1);
  }

  /** Drops what a pass that has failed left behind. */
  void clear() {
    spanOutputs.forEach(SpanOutputs::close);
    spanOutputs.clear();
    AutogradFunction.abandon();
  }
}
