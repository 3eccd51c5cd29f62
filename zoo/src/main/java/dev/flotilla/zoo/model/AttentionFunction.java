package dev.flotilla.zoo.model;

import dev.flotilla.memory.Autocast;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.Operator;
import dev.flotilla.memory.Operator.Absent;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Activations;
import dev.flotilla.model.CustomFunction;
import dev.flotilla.model.ForwardMode;
import dev.flotilla.model.Gradient;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * Attention by the kernel that libtorch would choose, its own or cuDNN's, so that its result and
 * the logarithm of its sums, a hundredth of that, can be saved and its gradients be asked for
 * without a graph.
 *
 * <p>Takes query, key and value, each with all heads side by side, what passes through, and a mask
 * as the second of that; gives the context and what passes through.
 */
final class AttentionFunction implements CustomFunction {

  private static final Absent NONE = Absent.NONE;
  private static final int PASSING = 3;
  private static final int MASK = 4;

  /** The kernels that it can call. */
  private enum Kernel {
    CPU_FLASH,
    FLASH,
    CUDNN
  }

  /** Found when attention first runs, and needed as long as the process lives. */
  static final class Operators {

    static final Operator CHOICE = new Operator("aten::_fused_sdp_choice");
    static final Operator FLASH = new Operator("aten::_scaled_dot_product_flash_attention");
    static final Operator FLASH_BACKWARD =
        new Operator("aten::_scaled_dot_product_flash_attention_backward");
    static final Operator CUDNN = new Operator("aten::_scaled_dot_product_cudnn_attention");
    static final Operator CUDNN_BACKWARD =
        new Operator("aten::_scaled_dot_product_cudnn_attention_backward");
    static final Operator CPU_FLASH =
        new Operator("aten::_scaled_dot_product_flash_attention_for_cpu");
    static final Operator CPU_FLASH_BACKWARD =
        new Operator("aten::_scaled_dot_product_flash_attention_for_cpu_backward");
  }

  private final double dropout;
  private final long heads;

  AttentionFunction(double dropout, long heads) {
    this.dropout = dropout;
    this.heads = heads;
  }

  /** A mask, and kernels that take several, are left to libtorch. */
  @Override
  public boolean suits(Activations input, ForwardMode mode) {
    boolean isByParts =
        input.tensors().getFirst().is_cpu()
            && (dropout > 0 || Autocast.current(ComputeDevice.CPU) != null);
    return input.tensors().get(MASK).numel() == 0 && !isByParts && kernel(input) != null;
  }

  /** Returns the kernel that libtorch would choose, or the quickest; null for another. */
  private @Nullable Kernel kernel(Activations input) {
    try (var _ = TensorScope.open()) {
      Tensor query = split(input.tensors().get(0));
      if (query.size(3) % 8 != 0) { // Libtorch would fill them up.
        return null;
      }
      Tensor key = split(input.tensors().get(1));
      Tensor value = split(input.tensors().get(2));
      Supplier<Long> asked =
          () -> Operators.CHOICE.number(query, key, value, NONE, dropout, false, NONE, false);
      long choice =
          query.is_cuda()
              ? AttentionTrial.quickest(query, key, value, dropout, asked)
              : asked.get();
      return switch ((int) choice) {
        case 1 -> query.is_cpu() ? Kernel.CPU_FLASH : Kernel.FLASH;
        case 3 -> Kernel.CUDNN;
        default -> null;
      };
    }
  }

  private Tensor split(Tensor all) {
    return all.view(all.size(0), all.size(1), heads, all.size(2) / heads).transpose(1, 2);
  }

  private static Tensor joined(Tensor byHead) {
    Tensor rows = byHead.transpose(1, 2);
    return rows.reshape(rows.size(0), rows.size(1), rows.size(2) * rows.size(3));
  }

  @Override
  public Result forward(Activations input, ForwardMode mode) {
    Tensor query = split(input.tensors().get(0));
    Tensor key = split(input.tensors().get(1));
    Tensor value = split(input.tensors().get(2));
    List<Tensor> results =
        switch (Objects.requireNonNull(kernel(input))) {
          case CPU_FLASH ->
              Operators.CPU_FLASH.tensors(query, key, value, dropout, false, NONE, NONE);
          case FLASH -> Operators.FLASH.tensors(query, key, value, dropout, false, false, NONE);
          case CUDNN ->
              Operators.CUDNN.tensors(query, key, value, NONE, true, dropout, false, false, NONE);
        };
    return new Result(outputs(input, results), results);
  }

  @Override
  public Activations outputs(Activations input, List<Tensor> saved) {
    List<Tensor> outputs = new ArrayList<>();
    outputs.add(joined(saved.getFirst()));
    outputs.addAll(input.tensors().subList(PASSING, input.tensors().size()));
    return new Activations(outputs);
  }

  @Override
  public List<Gradient> backward(Activations input, List<Tensor> saved, List<Tensor> gradients) {
    List<Gradient> all = new ArrayList<>();
    for (int i = 1; i < gradients.size(); i++) {
      all.add(new Gradient(input.tensors().get(PASSING + i - 1), gradients.get(i)));
    }
    if (gradients.getFirst().defined()) {
      var own = own(input, saved, split(gradients.getFirst()));
      for (int i = 0; i < PASSING; i++) {
        all.add(new Gradient(input.tensors().get(i), joined(own.get(i))));
      }
    }
    return all;
  }

  private List<Tensor> own(Activations input, List<Tensor> saved, Tensor gradient) {
    Tensor query = split(input.tensors().get(0));
    Tensor key = split(input.tensors().get(1));
    Tensor value = split(input.tensors().get(2));
    Tensor result = saved.get(0);
    Tensor sums = saved.get(1);
    // On a GPU two tensors for ragged batches follow, then the state of the random numbers.
    return switch (Objects.requireNonNull(kernel(input))) {
      case CPU_FLASH ->
          Operators.CPU_FLASH_BACKWARD.tensors(
              gradient, query, key, value, result, sums, dropout, false, NONE, NONE);
      case FLASH ->
          Operators.FLASH_BACKWARD.tensors(
              gradient,
              query,
              key,
              value,
              result,
              sums,
              saved.get(2),
              saved.get(3),
              query.size(2),
              key.size(2),
              dropout,
              false,
              saved.get(4),
              saved.get(5),
              NONE);
      case CUDNN ->
          Operators.CUDNN_BACKWARD.tensors(
              gradient,
              query,
              key,
              value,
              result,
              sums,
              saved.get(4),
              saved.get(5),
              new Tensor(),
              saved.get(2),
              saved.get(3),
              query.size(2),
              key.size(2),
              dropout,
              false,
              NONE);
    };
  }
}
