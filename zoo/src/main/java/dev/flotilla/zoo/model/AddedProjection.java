package dev.flotilla.zoo.model;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Activations;
import dev.flotilla.model.FinalFunction;
import dev.flotilla.model.ForwardMode;
import dev.flotilla.model.Gradient;
import dev.flotilla.model.Weights;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * x + dropout(W f(y) + b), f the identity or gelu: how each half of an encoder layer ends. Takes y,
 * x and whatever else, and gives the sum and whatever else.
 *
 * <p>With g the gradient of the sum and d what dropout makes of it, that of x is g, of b the sum of
 * d over the positions, of W dᵀ f(y), and of y (d W) f′(y): the sum itself is in none of them.
 */
final class AddedProjection implements FinalFunction {

  private final Layer.Bound dense;
  private final Tensor weight;
  private final Tensor bias;
  private final double dropout;
  private final boolean isGelu;

  private AddedProjection(Linear layer, Weights weights, double dropout, boolean isGelu) {
    dense = layer.bind(weights);
    weight = weights.parameter(layer.name() + ".weight");
    bias = weights.parameter(layer.name() + ".bias");
    this.dropout = dropout;
    this.isGelu = isGelu;
  }

  /** Creates one that takes y as it is. */
  static AddedProjection of(Linear layer, Weights weights, double dropout) {
    return new AddedProjection(layer, weights, dropout, false);
  }

  /** Creates one that takes gelu(y). */
  static AddedProjection ofGelu(Linear layer, Weights weights, double dropout) {
    return new AddedProjection(layer, weights, dropout, true);
  }

  @Override
  public Activations apply(Activations body, ForwardMode mode) {
    Tensor projected = dense.apply(activated(body.tensors().get(0)), mode);
    List<Tensor> outputs = new ArrayList<>();
    outputs.add(added(projected, body.tensors().get(1), mode));
    outputs.addAll(body.tensors().subList(2, body.tensors().size()));
    return new Activations(outputs);
  }

  private Tensor added(Tensor projected, Tensor x, ForwardMode mode) {
    return ResidualSum.of(projected, x, mode.isTraining() ? dropout : 0)
        .orElseGet(() -> Layers.sum(Dropout.apply(projected, dropout, mode), x));
  }

  /** What dropout makes of the gradient of the sum, in the type of the product. */
  private Tensor dropped(Tensor gradient, Tensor y, Tensor x) {
    var type = y.scalar_type();
    return ResidualSum.takes(type, x)
        ? ResidualSum.gradient(gradient.contiguous(), type, dropout)
        : Dropout.backward(gradient.to(type), dropout);
  }

  private Tensor activated(Tensor y) {
    return isGelu ? torch.gelu(y) : y;
  }

  @Override
  public List<Gradient> backward(Activations body, List<Tensor> gradients) {
    List<Gradient> all = new ArrayList<>();
    for (int i = 1; i < gradients.size(); i++) {
      all.add(new Gradient(body.tensors().get(i + 1), gradients.get(i)));
    }
    if (gradients.getFirst().defined()) {
      addOwn(body.tensors().get(0), body.tensors().get(1), gradients.getFirst(), all);
    }
    return all;
  }

  /** In mixed precision the product was computed in the type of y, from a converted matrix. */
  private void addOwn(Tensor y, Tensor x, Tensor gradient, List<Gradient> all) {
    var type = y.scalar_type();
    Tensor dropped = dropped(gradient, y, x).view(-1, weight.size(0));
    all.add(new Gradient(x, gradient.to(x.scalar_type())));
    if (bias.requires_grad()) {
      all.add(new Gradient(bias, dropped.sum(0).to(bias.scalar_type())));
    }
    if (weight.requires_grad()) {
      all.add(new Gradient(weight, ofWeight(dropped, y)));
    }
    if (y.requires_grad()) {
      Tensor inner = dropped.mm(weight.to(type)).view(y.sizes());
      if (isGelu) {
        torch.gelu_backward_out(inner, inner, y);
      }
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
