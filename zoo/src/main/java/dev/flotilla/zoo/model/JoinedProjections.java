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

  JoinedProjections(Weights weights, String prefix) {
    matrices = weights.own(of(weights, prefix, ".weight"));
    offsets = weights.own(of(weights, prefix, ".bias"));
  }

  private static TensorVector of(Weights weights, String prefix, String kind) {
    Stream<Tensor> parts = ROLES.stream().map(role -> weights.parameter(prefix + role + kind));
    return new TensorVector(parts.toArray(Tensor[]::new));
  }

  /** Returns query, key and value, each [samples, length, hidden]. */
  List<Tensor> apply(Tensor hidden) {
    Tensor matrix = torch.cat(matrices, 0);
    Tensor offset = torch.cat(offsets, 0);
    Tensor all = torch.linear(hidden, matrix, new TensorOptional(offset));
    // A vector's elements end with it; copies of the handles do not.
    TensorVector parts = torch.chunk(all, ROLES.size(), -1);
    return Stream.of(0, 1, 2).map(i -> new Tensor(parts.get(i))).toList();
  }
}
