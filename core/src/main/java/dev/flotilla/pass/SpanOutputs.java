package dev.flotilla.pass;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Activations;
import dev.flotilla.pass.SavedTensorStore.Stored;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * What a span has left behind in forward: its outputs cut off from its graph, where backward pauses
 * and gradients are collected, and the graph unless the span is recomputed.
 */
final class SpanOutputs implements AutoCloseable {

  private final Span span;
  private final List<TensorForm> forms = new ArrayList<>();
  private final List<TensorForm> body;
  private final @Nullable Activations graph;
  private final SavedOutputs saved;
  private List<Tensor> pause = new ArrayList<>();
  private @Nullable Stored stored;

  /**
   * Takes the outputs of a span.
   *
   * @param differentiable which of them take part in backward
   * @param body what recomputation must come to; nothing for a span that is kept
   * @param saved what recomputation need not make again
   */
  SpanOutputs(
      Span span,
      Activations outputs,
      List<Boolean> differentiable,
      List<TensorForm> body,
      SavedOutputs saved) {
    this.span = span;
    this.body = body;
    this.saved = saved;
    this.graph = span.isRecomputed() ? null : outputs;
    for (int i = 0; i < outputs.tensors().size(); i++) {
      var output = outputs.tensors().get(i);
      forms.add(TensorForm.of(output, differentiable.get(i)));
      pause.add(TensorScope.keep(output.detach().set_requires_grad(differentiable.get(i))));
    }
    if (graph != null) {
      graph.tensors().forEach(TensorScope::keep);
    }
  }

  Span span() {
    return span;
  }

  /** Returns the outputs with their graph, if it was kept. */
  @Nullable Activations graph() {
    return graph;
  }

  /** Returns the forms of what recomputation must come to. */
  List<TensorForm> body() {
    return body;
  }

  /** Returns what recomputation need not make again. */
  SavedOutputs saved() {
    return saved;
  }

  /** Returns the input of the next span. */
  Activations pause() {
    return new Activations(pause);
  }

  /** Moves the input of the next span, which runs now, away until backward needs it. */
  void store(SavedTensorStore savedTensorStore) {
    stored = savedTensorStore.store(pause());
  }

  /** Frees the input of the next span, which has run, where it was. */
  void leave() {
    pause.forEach(TensorScope::free);
    pause = List.of();
  }

  /** Says that the input of the next span will be needed soon. */
  void prepare() {
    if (stored != null) {
      stored.prepare();
    }
  }

  /** Brings the input of the next span back. */
  void fetch() {
    if (stored == null) {
      return;
    }
    // A scope of its own, as backward's would hold all that is fetched until it ends.
    try (var _ = TensorScope.open()) {
      pause = stored.fetch().tensors();
      for (int i = 0; i < pause.size(); i++) {
        TensorScope.keep(pause.get(i)).set_requires_grad(forms.get(i).isDifferentiable());
      }
    }
    stored = null;
  }

  /**
   * Returns the gradients that the outputs have collected, undefined where none came, and frees the
   * outputs: recomputation makes them anew.
   */
  List<Tensor> takeGradients() {
    List<Tensor> gradients = new ArrayList<>();
    pause.forEach(output -> gradients.add(new Tensor(output.grad())));
    pause.forEach(TensorScope::free);
    pause = List.of();
    return gradients;
  }

  @Override
  public void close() {
    if (graph != null) {
      graph.tensors().forEach(TensorScope::free);
    }
    pause.forEach(TensorScope::free);
    pause = List.of();
    if (stored != null) {
      stored.drop();
    }
    saved.close();
  }
}
