package dev.flotilla.pass;

import dev.flotilla.memory.Autocast;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Activations;
import dev.flotilla.model.AutogradFunction;
import dev.flotilla.model.Gradient;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.IntStream;
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
 * numbers and dtypes; what would make the second run another one is refused by name.
 */
final class SpanRunner {

  private final PartRunner parts;
  // By the number of the part that follows: which tensors gradients flow into.
  private final Map<Integer, List<Boolean>> differentiable = new HashMap<>();

  SpanRunner(PartRunner parts) {
    this.parts = parts;
  }

  /**
   * Runs a span and cuts its outputs off.
   *
   * @param saved takes what a recomputed span saves besides its input
   */
  SpanOutputs forward(Span span, Activations input, long microStep, SavedOutputs saved) {
    List<TensorForm> body = new ArrayList<>();
    try (var _ = TensorScope.open()) {
      var known = span.isRecomputed() ? differentiable.get(span.to()) : null;
      if (known == null && span.isRecomputed()) {
        try (var _ = AutogradFunction.dropped()) {
          return withGraph(span, input, microStep, body);
        }
      }
      if (known == null) {
        return withGraph(span, input, microStep, body);
      }
      try {
        var outputs = withoutGraph(span, input, microStep, saved, body);
        return new SpanOutputs(span, outputs, known, body, saved);
      } catch (RuntimeException | Error failure) {
        saved.close();
        throw failure;
      }
    }
  }

  /** Without a graph nobody can tell what is differentiable, so a span's first run has one. */
  private SpanOutputs withGraph(
      Span span, Activations input, long microStep, List<TensorForm> body) {
    var outputs = parts.train(span, input, microStep, null, noteForms(span, body));
    var flags = outputs.tensors().stream().map(Tensor::requires_grad).toList();
    differentiable.put(span.to(), flags);
    return new SpanOutputs(span, outputs, flags, body, SavedOutputs.none());
  }

  /**
   * A change of the input in place would go unnoticed here, and recomputation would start from it.
   */
  private Activations withoutGraph(
      Span span, Activations input, long microStep, SavedOutputs saved, List<TensorForm> body) {
    try (var _ = new NoGradGuard()) {
      var before = versions(input);
      var outputs = parts.train(span, input, microStep, saved, noteForms(span, body));
      if (!versions(input).equals(before)) {
        throw new IllegalStateException(
            ("%s changes its input in place, so it cannot be recomputed: use an operation that"
                    + " makes a new tensor")
                .formatted(names(span)));
      }
      return outputs;
    }
  }

  private String names(Span span) {
    String first = parts.name(span.from());
    return span.to() - span.from() == 1 ? first : first + " … " + parts.name(span.to() - 1);
  }

  private static Consumer<Activations> noteForms(Span span, List<TensorForm> forms) {
    return body -> {
      if (span.isRecomputed()) {
        body.tensors().forEach(tensor -> forms.add(TensorForm.of(tensor, false)));
      }
    };
  }

  private static List<Long> versions(Activations activations) {
    return activations.tensors().stream().map(Tensor::_version).toList();
  }

  /**
   * Runs a span again, with a graph, up to where {@link #backward} goes on.
   *
   * @param autocast the dtype of the first run
   */
  Recomputation recompute(
      SpanOutputs outputs, Activations input, long microStep, torch.@Nullable ScalarType autocast) {
    try (var _ = Autocast.like(autocast, parts.device())) {
      var recomputed = parts.recompute(outputs.span(), input, microStep, outputs.saved());
      requireSame(outputs, recomputed.outputs());
      return recomputed;
    }
  }

  private static int last(SpanOutputs outputs) {
    return outputs.span().to() - 1;
  }

  /**
   * Tells whether {@link #start} can be used: on a device, where what backward has passed should be
   * freed at once, unless somebody waits for parameters one by one.
   */
  boolean canStart(SpanOutputs outputs, Activations recomputed) {
    return parts.device().isCuda()
        && parts.finalFunction(last(outputs)) != null
        && !AutogradFunction.watchesLeaves()
        && recomputed.tensors().stream().anyMatch(Tensor::requires_grad);
  }

  /**
   * Returns a tensor whose backward is that of the final function that was left out, and then goes
   * through the recomputed graph. It frees each tensor when it has passed it, where backward from
   * {@linkplain #backward(SpanOutputs, Activations, List) several} holds those until its end.
   *
   * @param gradients of the span's outputs
   */
  Tensor start(SpanOutputs outputs, Activations recomputed, List<Tensor> gradients) {
    var start = parts.device().zeros(torch.ScalarType.Float, 1);
    AutogradFunction.record(
        recomputed.tensors(),
        List.of(start),
        recomputed.tensors(),
        _ -> byInput(backward(outputs, recomputed, gradients), recomputed.tensors()));
    return start;
  }

  /** Adds gradients of parameters where they belong, and returns the others in order. */
  private static List<Tensor> byInput(List<Gradient> gradients, List<Tensor> inputs) {
    List<Tensor> all = new ArrayList<>(Collections.nCopies(inputs.size(), new Tensor()));
    for (var gradient : gradients) {
      var value = gradient.value();
      int input =
          IntStream.range(0, inputs.size())
              .filter(i -> inputs.get(i).is_same(gradient.of()))
              .findFirst()
              .orElse(-1);
      if (!value.defined() || !gradient.of().requires_grad()) {
        continue;
      }
      if (input < 0) {
        addTo(gradient.of(), value);
      } else {
        all.set(input, all.get(input).defined() ? all.get(input).add(value) : value);
      }
    }
    return all;
  }

  private static void addTo(Tensor parameter, Tensor gradient) {
    if (!parameter.is_leaf()) {
      throw new IllegalStateException(
          "a final function gives the gradient of a tensor that is neither its input nor a"
              + " parameter");
    }
    if (parameter.grad().defined()) {
      parameter.grad().add_(gradient);
    } else {
      parameter.mutable_grad().put(gradient);
    }
  }

  /**
   * Returns what backward through the recomputed graph starts from.
   *
   * @param gradients of the span's outputs
   */
  List<Gradient> backward(SpanOutputs outputs, Activations recomputed, List<Tensor> gradients) {
    var last = parts.finalFunction(last(outputs));
    if (last == null) {
      return paired(recomputed, gradients);
    }
    try (var scope = TensorScope.open();
        var _ = new NoGradGuard()) {
      var inputGradients = last.backward(recomputed, gradients);
      for (var gradient : inputGradients) {
        requireForm(gradient, "final function of " + parts.name(last(outputs)));
        scope.handOut(gradient.value());
      }
      return inputGradients;
    }
  }

  /** Returns what backward goes on from before a custom function that was left out. */
  List<Gradient> backward(SpanOutputs outputs, Recomputation.Cut cut) {
    try (var scope = TensorScope.open();
        var _ = new NoGradGuard()) {
      var gradients =
          cut.outputs().tensors().stream().map(leaf -> new Tensor(leaf.grad())).toList();
      var kept = outputs.saved().of(cut.part());
      var inputGradients = parts.customFunction(cut.part()).backward(cut.input(), kept, gradients);
      for (var gradient : inputGradients) {
        requireForm(gradient, "custom function of " + parts.name(cut.part()));
        scope.handOut(gradient.value());
      }
      return inputGradients;
    }
  }

  /** Libtorch would sum or convert what does not fit without a word. */
  private static void requireForm(Gradient gradient, String of) {
    if (!gradient.value().defined()) {
      return;
    }
    var form = TensorForm.of(gradient.of(), false);
    if (!form.fits(gradient.value())) {
      throw new IllegalStateException(
          "the %s gives a gradient of %s for a tensor of %s"
              .formatted(of, TensorForm.of(gradient.value(), false), form));
    }
  }

  /** Gives outputs their gradients. */
  static List<Gradient> paired(Activations outputs, List<Tensor> gradients) {
    return IntStream.range(0, gradients.size())
        .mapToObj(i -> new Gradient(outputs.tensors().get(i), gradients.get(i)))
        .toList();
  }

  private void requireSame(SpanOutputs outputs, Activations recomputed) {
    var forms = outputs.body();
    boolean fits = forms.size() == recomputed.tensors().size();
    for (int i = 0; fits && i < forms.size(); i++) {
      fits = forms.get(i).fits(recomputed.tensors().get(i));
    }
    if (outputs.saved().hasProductsLeft()) {
      throw new IllegalStateException(
          ("%s computed fewer products when it was recomputed than the first time: a segment that"
                  + " is recomputed must do the same again")
              .formatted(parts.name(last(outputs))));
    }
    if (!fits) {
      var got = recomputed.tensors().stream().map(tensor -> TensorForm.of(tensor, false)).toList();
      throw new IllegalStateException(
          ("%s gave %s when it was recomputed, but %s the first time: a segment that is recomputed"
                  + " must do the same again")
              .formatted(parts.name(last(outputs)), got, forms));
    }
  }

  /** Runs a graph backward from gradients, of which some may be undefined. */
  static void backward(List<Gradient> gradients) {
    List<Tensor> roots = new ArrayList<>();
    List<Tensor> seeds = new ArrayList<>();
    for (var gradient : gradients) {
      if (gradient.value().defined() && gradient.of().requires_grad()) {
        roots.add(gradient.of());
        seeds.add(gradient.value());
      }
    }
    if (!roots.isEmpty()) {
      torch.backward(vector(roots), vector(seeds), new BoolOptional(), false, new TensorVector());
    }
  }

  private static TensorVector vector(List<Tensor> tensors) {
    return new TensorVector(tensors.toArray(Tensor[]::new));
  }

  /** Recomputes so that they leave no trace in the random numbers that anybody draws later. */
  void leavingNoTrace(Runnable recomputations) {
    if (parts
        .isRecorded()) { // Nothing is recomputed then, and the generator does not tell its state.
      recomputations.run();
      return;
    }
    try (var _ = TensorScope.open()) {
      var numbers = parts.generator().get_state();
      recomputations.run();
      parts.generator().set_state(numbers);
    }
  }
}
