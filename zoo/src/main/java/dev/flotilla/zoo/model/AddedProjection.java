package dev.flotilla.zoo.model;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Activations;
import dev.flotilla.model.AutogradFunction;
import dev.flotilla.model.FinalFunction;
import dev.flotilla.model.ForwardMode;
import dev.flotilla.model.Gradient;
import dev.flotilla.model.Weights;
import dev.flotilla.zoo.model.AddedNorm.Addition;
import dev.flotilla.zoo.model.AddedNorm.Result;
import dev.flotilla.zoo.model.ColumnKernels.Summed;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * x + dropout(W f(y) + b), f the identity or gelu: how each half of an encoder layer ends. Takes y,
 * x and whatever else, and gives the sum and whatever else.
 *
 * <p>With g the gradient of the sum and d what dropout makes of it, that of x is g, of b the sum of
 * d over the positions, of W dᵀ f(y), and of y (d W) f′(y): the sum itself is in none of them.
 *
 * <p>On a GPU f(y) is gelu(y + c), c the offset that the product before has left out: see {@link
 * #takesOffset}.
 */
final class AddedProjection implements FinalFunction {

  /** The type of products in mixed precision that kernels of our own take. */
  private static final torch.ScalarType TYPE = torch.ScalarType.BFloat16;

  private final Layer.Bound dense;
  private final HalfProduct product;
  private final Tensor weight;
  private final Tensor bias;
  private final double dropout;
  private final @Nullable Tensor offset;
  private final @Nullable FollowingNorm norm;

  private AddedProjection(
      Linear layer,
      Weights weights,
      double dropout,
      @Nullable Tensor offset,
      @Nullable FollowingNorm norm) {
    dense = layer.bind(weights);
    weight = weights.parameter(layer.name() + ".weight");
    bias = weights.parameter(layer.name() + ".bias");
    product = new HalfProduct(List.of(weight), List.of());
    this.dropout = dropout;
    this.offset = offset;
    this.norm = norm;
  }

  /**
   * Creates one that takes y as it is.
   *
   * @param norm what its sum goes to, if anything
   */
  static AddedProjection of(
      Linear layer, Weights weights, double dropout, @Nullable FollowingNorm norm) {
    return new AddedProjection(layer, weights, dropout, null, norm);
  }

  /**
   * Creates one that takes gelu(y).
   *
   * @param before the layer that gives y
   * @param norm what its sum goes to, if anything
   */
  static AddedProjection ofGelu(
      Linear before, Linear layer, Weights weights, double dropout, @Nullable FollowingNorm norm) {
    Tensor offset = weights.parameter(before.name() + ".bias");
    return new AddedProjection(layer, weights, dropout, offset, norm);
  }

  /** Tells whether y must come without its offset, which is then added here. */
  boolean takesOffset(torch.ScalarType type) {
    return offset != null && BiasGelu.takes(type, offset);
  }

  private boolean isFused(Tensor y, Tensor x) {
    return y.is_cuda()
        && y.scalar_type().intern() == TYPE
        && y.is_contiguous()
        && ResidualKernels.isFloat(bias)
        && (offset == null || takesOffset(TYPE))
        && ResidualSum.takes(TYPE, x);
  }

  @Override
  public Activations apply(Activations body, ForwardMode mode) {
    Tensor y = body.tensors().get(0);
    Tensor x = body.tensors().get(1);
    Tensor make = FollowingNorm.make(body);
    List<Tensor> outputs = new ArrayList<>();
    outputs.add(
        isFused(y, x) && product.suits()
            ? fused(y, x, make, mode)
            : byLibtorch(y, FollowingNorm.whole(x, make), mode));
    outputs.addAll(body.tensors().subList(2, body.tensors().size() - (make.defined() ? 1 : 0)));
    return new Activations(outputs);
  }

  private Tensor byLibtorch(Tensor y, Tensor x, ForwardMode mode) {
    Tensor projected = dense.apply(activated(y), mode);
    return ResidualSum.of(projected, x, mode.isTraining() ? dropout : 0)
        .orElseGet(() -> Layers.sum(Dropout.apply(projected, dropout, mode), x));
  }

  /** One function of all that it takes, whose backward is the one below. */
  private Tensor fused(Tensor given, Tensor x, Tensor make, ForwardMode mode) {
    var draws = Draws.now(x, mode.isTraining() ? dropout : 0);
    Tensor y = given.detach();
    Tensor inputs;
    Tensor matrix;
    Result result;
    try (var scope = TensorScope.open();
        var _ = new NoGradGuard()) {
      inputs = offset == null ? y : scope.handOut(activated(y));
      var halves = product.halves();
      matrix = scope.handOut(halves.matrix());
      // A product whose number of outputs is no multiple of eight leaves gaps between its rows.
      var projected = product.plain(inputs, halves).contiguous();
      var addition = new Addition(projected, bias, x, make, draws);
      Tensor room = scope.handOut(torch.empty_like(x));
      result = AddedNorm.sum(addition, room, norm == null ? null : norm.norm());
      scope.handOut(result.whole());
      scope.handOut(result.copy());
      scope.handOut(result.make());
    }
    var link = new NormLink(result, draws);
    boolean isWanted = given.requires_grad();
    AutogradFunction.record(
        offset == null ? List.of(given, x, weight, bias) : List.of(given, x, weight, bias, offset),
        List.of(result.sum()),
        List.of(y, inputs, matrix, result.whole(), result.copy(), result.make()),
        gradients -> {
          Tensor gradient = gradients.getFirst().contiguous();
          var linked = link.take(gradient);
          var dropped = linked == null ? ofSum(gradient, draws) : linked;
          var own = own(y, inputs, matrix, dropped, isWanted);
          List<Tensor> all = new ArrayList<>(List.of(own.y(), gradient, own.weight(), own.bias()));
          if (offset != null) {
            all.add(own.offset());
          }
          return all;
        });
    if (norm != null) {
      if (!result.sum().requires_grad()) {
        link.keep();
      }
      norm.link(link);
    }
    return result.sum();
  }

  /** Returns the gradient of what was added, which the norm may have found. */
  private Summed ofSum(Tensor gradient, Draws draws) {
    var found = norm == null ? null : norm.added(gradient, draws);
    return found == null ? AddedNorm.ofSum(gradient, TYPE, draws) : found;
  }

  /** Gradients, undefined where none is wanted. */
  private record Own(Tensor y, Tensor weight, Tensor bias, Tensor offset) {}

  /** Returns the gradients, given f(y). */
  private Own own(Tensor y, Tensor inputs, Tensor matrix, Summed dropped, boolean isWanted) {
    Tensor ofWeight = product.ofParameters(inputs, dropped).getFirst();
    if (!isWanted) {
      return new Own(new Tensor(), ofWeight, ofBias(dropped), new Tensor());
    }
    Tensor inner = product.ofInput(y, matrix, dropped.whole());
    if (offset == null) {
      return new Own(inner, ofWeight, ofBias(dropped), new Tensor());
    }
    var both = BiasGelu.gradientInPlace(inner, y, offset);
    return new Own(both.whole(), ofWeight, ofBias(dropped), ofOffset(both.sums()));
  }

  /** Returns the same gradients of a y that nobody reads again, whose memory f(y) takes. */
  private Own ownOfRecomputed(Tensor y, Tensor matrix, Summed dropped) {
    if (offset == null || !y.requires_grad()) {
      return own(y, activated(y), matrix, dropped, y.requires_grad());
    }
    Tensor inner = product.ofInput(y, matrix, dropped.whole());
    Tensor sums = BiasGelu.gradientAndOutputInPlace(inner, y, offset);
    Tensor ofWeight = product.ofParameters(y.detach(), dropped).getFirst();
    return new Own(inner, ofWeight, ofBias(dropped), ofOffset(sums));
  }

  private Tensor ofBias(Summed dropped) {
    return bias.requires_grad() ? dropped.sums() : new Tensor();
  }

  private Tensor ofOffset(Tensor sums) {
    return offset != null && offset.requires_grad() ? sums : new Tensor();
  }

  private Tensor activated(Tensor y) {
    return offset == null ? y : BiasGelu.of(y, offset).orElseGet(() -> torch.gelu(y));
  }

  @Override
  public List<Gradient> backward(Activations body, List<Tensor> gradients) {
    List<Gradient> all = new ArrayList<>();
    for (int i = 1; i < gradients.size(); i++) {
      all.add(new Gradient(body.tensors().get(i + 1), gradients.get(i)));
    }
    if (gradients.getFirst().defined()) {
      Tensor y = body.tensors().get(0);
      Tensor x = body.tensors().get(1);
      // Of y in bf16 the product was in bf16.
      if (isFused(y, x) && product.isPossible()) {
        addFused(y, x, gradients.getFirst(), all);
      } else {
        addOwn(y, x, gradients.getFirst(), all);
      }
    }
    return all;
  }

  private void addFused(Tensor y, Tensor x, Tensor given, List<Gradient> all) {
    Tensor gradient = given.contiguous();
    try (var scope = TensorScope.open()) {
      Tensor matrix = product.halves().matrix();
      var dropped = ofSum(gradient, Draws.now(x, dropout));
      var own = ownOfRecomputed(y, matrix, dropped);
      all.add(new Gradient(x, gradient));
      add(bias, own.bias(), scope, all);
      add(weight, own.weight(), scope, all);
      add(y, own.y(), scope, all);
      if (offset != null) {
        add(offset, own.offset(), scope, all);
      }
    }
  }

  private static void add(Tensor of, Tensor value, TensorScope scope, List<Gradient> all) {
    if (value.defined()) {
      all.add(new Gradient(of, scope.handOut(value)));
    }
  }

  /** In mixed precision the product was computed in the type of y, from a converted matrix. */
  private void addOwn(Tensor y, Tensor x, Tensor gradient, List<Gradient> all) {
    var type = y.scalar_type();
    var dropped = dropped(gradient, y, x).view(-1, weight.size(0));
    all.add(new Gradient(x, gradient.to(x.scalar_type())));
    if (bias.requires_grad()) {
      all.add(new Gradient(bias, dropped.sum(0).to(bias.scalar_type())));
    }
    if (weight.requires_grad()) {
      all.add(new Gradient(weight, ofWeight(dropped, y)));
    }
    if (y.requires_grad()) {
      Tensor inner = dropped.mm(weight.to(type)).view(y.sizes());
      addActivated(inner, y, all);
    }
  }

  /** What dropout makes of the gradient of the sum, in the type of the product. */
  private Tensor dropped(Tensor gradient, Tensor y, Tensor x) {
    var type = y.scalar_type();
    return ResidualSum.takes(type, x)
        ? AddedNorm.ofSum(gradient.contiguous(), type, Draws.now(x, dropout)).whole()
        : Dropout.backward(gradient.to(type), dropout);
  }

  private void addActivated(Tensor inner, Tensor y, List<Gradient> all) {
    if (offset == null) {
      all.add(new Gradient(y, inner));
    } else if (takesOffset(y.scalar_type())) {
      var both = BiasGelu.gradientInPlace(inner, y, offset);
      all.add(new Gradient(y, both.whole()));
      if (offset.requires_grad()) {
        all.add(new Gradient(offset, both.sums()));
      }
    } else {
      torch.gelu_backward_out(inner, inner, y);
      all.add(new Gradient(y, inner));
    }
  }

  /** gelu(y) is the largest tensor of a layer, and is freed before the next one is made. */
  private Tensor ofWeight(Tensor dropped, Tensor y) {
    try (var scope = TensorScope.open()) {
      Tensor inputs = activated(y).view(-1, weight.size(1));
      return scope.handOut(dropped.t().mm(inputs).to(weight.scalar_type()));
    }
  }
}
