package dev.flotilla.zoo.model;

import dev.flotilla.model.Weights;
import java.util.List;
import java.util.stream.Stream;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;

/**
 * Query, key and value as one product: on a GPU one large product is quicker than three, and in
 * mixed precision its input is converted once.
 *
 * <p>Their parameters stay apart, under the names that others know; joining them takes one pass
 * over the weights.
 */
final class JoinedProjections {

  private static final List<String> ROLES = List.of("query", "key", "value");

  private final TensorVector matrices;
  private final TensorVector offsets;
  private final HalfProduct product;

  JoinedProjections(Weights weights, String prefix) {
    matrices = weights.own(of(weights, prefix, ".weight"));
    offsets = weights.own(of(weights, prefix, ".bias"));
    product =
        new HalfProduct(
            all(weights, prefix, ".weight").toList(), all(weights, prefix, ".bias").toList());
  }

  private static TensorVector of(Weights weights, String prefix, String kind) {
    return new TensorVector(all(weights, prefix, kind).toArray(Tensor[]::new));
  }

  private static Stream<Tensor> all(Weights weights, String prefix, String kind) {
    return ROLES.stream().map(role -> weights.parameter(prefix + role + kind));
  }

  /**
   * Returns query, key and value, each [samples, length, hidden].
   *
   * @param copy the hidden state in bf16, or itself
   */
  List<Tensor> apply(Tensor hidden, Tensor copy) {
    if (product.suits()) {
      return product.applyApart(copy.to(torch.ScalarType.BFloat16));
    }
    Tensor matrix = torch.cat(matrices, 0);
    Tensor offset = torch.cat(offsets, 0);
    Tensor all = torch.linear(hidden, matrix, new TensorOptional(offset));
    // A vector's elements end with it; copies of the handles do not.
    TensorVector parts = torch.chunk(all, ROLES.size(), -1);
    return Stream.of(0, 1, 2).map(i -> new Tensor(parts.get(i))).toList();
  }
}
