package dev.flotilla.zoo.model;

import dev.flotilla.memory.Autocast;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.model.Activations;
import dev.flotilla.model.AutogradFunction;
import dev.flotilla.model.ForwardMode;
import dev.flotilla.model.Weights;
import dev.flotilla.zoo.model.AddedNorm.Norm;
import dev.flotilla.zoo.model.AddedNorm.Result;
import dev.flotilla.zoo.model.ColumnKernels.Summed;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.bytedeco.pytorch.GradMode;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * The norm of the sum that an {@link AddedProjection} gives.
 *
 * <p>In mixed precision with bf16 on a GPU it is computed along with the sum, and what is added
 * next reads the sum and makes the norm again: in float32 it never is in memory.
 */
final class FollowingNorm {

  private final Layer.Bound whole;
  private final LayerNorm.Copying copying;
  private final Tensor parameter;
  private final Supplier<TensorOptional> gamma;
  private final Supplier<TensorOptional> beta;
  private final double epsilon;
  private final boolean isLast;

  /** Passes that go on at the same time are on threads of their own. */
  private final ThreadLocal<Optional<NormLink>> link = ThreadLocal.withInitial(Optional::empty);

  /** What dropout has kept of what the last sum was made of. */
  private volatile Draws draws = Draws.NONE;

  /** To the sum that the last graph has started from, of which only this norm knows. */
  private final AtomicReference<Optional<NormLink>> toStart =
      new AtomicReference<>(Optional.empty());

  /**
   * Creates one.
   *
   * @param isLast whether no layer follows that could make the norm again
   */
  FollowingNorm(LayerNorm layer, Weights weights, boolean isLast) {
    whole = layer.bind(weights);
    copying = layer.bindCopying(weights);
    parameter = weights.parameter(layer.name() + ".weight");
    gamma = weights.inFloat32(layer.name() + ".weight");
    beta = weights.inFloat32(layer.name() + ".bias");
    epsilon = layer.epsilon();
    this.isLast = isLast;
  }

  /**
   * A residual stream between two sums.
   *
   * @param tensor the stream; with {@code make}, its data are those of the sum before it
   * @param half the stream in bf16 where it is there, else as it is
   * @param make undefined, or how the norm makes the stream of the sum
   */
  record Stream(Tensor tensor, Tensor half, Tensor make) {

    /** Tells whether there is a copy in bf16. */
    @SuppressWarnings("ReferenceEquality") // Two handles of one tensor would be two copies.
    private boolean isCopied() {
      return tensor != half;
    }

    /**
     * Returns activations with the stream in the place of the first, and behind all else how it is
     * made, and its copy if that is to pass.
     */
    Activations in(Activations input, boolean passesCopy) {
      List<Tensor> all = new ArrayList<>(List.of(tensor));
      all.addAll(input.tensors().subList(1, input.tensors().size()));
      if (make.defined()) {
        all.add(make);
      }
      if (passesCopy && isCopied()) {
        all.add(half);
      }
      return new Activations(all);
    }
  }

  /**
   * Returns how the stream among activations is made, which they end with; undefined if it is
   * whole.
   */
  static Tensor make(Activations activations) {
    Tensor last = activations.tensors().getLast();
    return last.is_cuda() && last.dim() == 1 && ResidualKernels.isFloat(last) ? last : new Tensor();
  }

  /** Returns a stream in float32, whatever it is made of. */
  static Tensor whole(Tensor stream, Tensor make) {
    if (!make.defined()) {
      return stream;
    }
    Tensor whole;
    try (var _ = new NoGradGuard()) {
      whole = AddedNorm.made(stream.detach(), make);
    }
    AutogradFunction.record(
        List.of(stream), List.of(whole), List.of(), gradients -> List.of(gradients.getFirst()));
    return whole;
  }

  /** Returns the norm that is to be computed along with a sum. */
  Norm norm() {
    return new Norm(
        new Tensor(gamma.get().get()), new Tensor(beta.get().get()), epsilon, isLast, !isLast);
  }

  /** Takes what was computed along with a sum, until the sum comes to be normalised. */
  void link(NormLink value) {
    link.get().ifPresent(NormLink::release);
    link.set(Optional.of(value));
    draws = value.draws();
  }

  /**
   * Takes the gradient of what was added to make a sum that a graph has started from, which is
   * found along with the norm's: backward goes on from the sum by another graph, or by none.
   *
   * @param gradient of the sum
   * @param kept what dropout has kept of what was added
   * @return null if nothing was found, or not of these
   */
  @Nullable Summed added(Tensor gradient, Draws kept) {
    var left = toStart.getAndSet(Optional.empty()).orElse(null);
    var added = left == null ? null : left.take(gradient);
    return left != null && left.draws().equals(kept) ? added : null;
  }

  /** Normalises a sum. */
  Stream apply(Tensor sum, ForwardMode mode) {
    var made = link.get().filter(it -> it.isOf(sum));
    link.get().ifPresent(NormLink::release);
    link.remove();
    if (made.isPresent()) {
      return recorded(sum, norm(), made.get().result(), made.get());
    }
    if (isLast) {
      Tensor output = whole.apply(sum, mode);
      return new Stream(output, output, new Tensor());
    }
    if (isRemade(sum)) {
      var norm = norm();
      var result = FusedLayerNorm.normalised(sum, norm);
      // Nobody else takes what is found of a sum that something else has made.
      return recorded(sum, norm, result, startsGraph(sum) ? new NormLink(result, draws) : null);
    }
    var seen = copying.apply(sum);
    return new Stream(seen.whole(), seen.half(), new Tensor());
  }

  /** Tells whether products are in bf16, with parameters of float32 that kernels take. */
  private boolean isRemade(Tensor sum) {
    return sum.is_cuda()
        && Autocast.current(ComputeDevice.of(sum)) == torch.ScalarType.BFloat16
        && ResidualKernels.isFloat(parameter)
        && ResidualKernels.take(sum);
  }

  private static boolean startsGraph(Tensor sum) {
    return sum.is_leaf() && sum.requires_grad() && GradMode.is_enabled();
  }

  /** The stream is a tensor over the data of the sum, but in the graph it is the norm. */
  private Stream recorded(Tensor sum, Norm norm, Result result, @Nullable NormLink by) {
    if (by != null && startsGraph(sum)) {
      toStart.getAndSet(Optional.of(by)).ifPresent(NormLink::drop);
    }
    if (isLast) {
      Tensor output = result.whole().detach();
      FusedLayerNorm.record(sum, norm, List.of(output), result.make(), by);
      return new Stream(output, output, new Tensor());
    }
    Tensor stream = sum.detach();
    Tensor copy = result.copy().detach();
    FusedLayerNorm.record(sum, norm, List.of(stream, copy), result.make(), by);
    return new Stream(stream, copy, new Tensor(result.make()));
  }
}
