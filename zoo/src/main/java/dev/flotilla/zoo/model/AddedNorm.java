package dev.flotilla.zoo.model;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.GpuKernel;
import dev.flotilla.zoo.model.ColumnKernels.Summed;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * s = x + dropout(p + b) and y = LayerNorm(s) on a GPU, one pass over memory forward and one
 * backward; or either of them alone, to the same bits. Nothing is recorded here.
 */
final class AddedNorm {

  private AddedNorm() {}

  /**
   * What is added to a residual stream.
   *
   * @param added p, float32 or bf16
   * @param offset b over the last axis, float32; undefined for none
   * @param x the stream, float32
   * @param make undefined, or how a norm makes the stream of what is given as x
   * @param draws what dropout keeps
   */
  record Addition(Tensor added, Tensor offset, Tensor x, Tensor make, Draws draws) {}

  /**
   * A norm.
   *
   * @param gamma float32
   * @param beta float32
   * @param epsilon added to the variance
   * @param isWhole whether y is wanted in float32
   * @param copies whether y is wanted in bf16
   */
  record Norm(Tensor gamma, Tensor beta, double epsilon, boolean isWhole, boolean copies) {}

  /**
   * What comes out, each undefined where it was not asked for.
   *
   * @param sum s
   * @param whole y in float32
   * @param copy y in bf16
   * @param make how y is made of s: gamma, beta, means, and inverses of deviations
   */
  record Result(Tensor sum, Tensor whole, Tensor copy, Tensor make) {}

  /**
   * Gradients, undefined where they were not asked for.
   *
   * @param sum of s
   * @param added of p, with the sums of its columns, which are that of b
   * @param gamma of the norm
   * @param beta of the norm
   */
  record Gradients(Tensor sum, Summed added, Tensor gamma, Tensor beta) {}

  private static int width(Tensor tensor) {
    return Math.toIntExact(tensor.size(tensor.dim() - 1));
  }

  private static Object orAbsent(Tensor tensor) {
    return tensor.defined() ? tensor : GpuKernel.ABSENT;
  }

  /** Returns a sum, in the memory given for it, and its norm if there is one. */
  static Result sum(Addition given, Tensor sum, @Nullable Norm norm) {
    return run(given, sum, norm);
  }

  /** Returns the norm of a sum. */
  static Result norm(Tensor sum, Norm norm) {
    return run(null, sum, norm);
  }

  private static Result run(@Nullable Addition given, Tensor sum, @Nullable Norm norm) {
    var device = ComputeDevice.of(sum);
    int width = width(sum);
    long rows = sum.numel() / width;
    List<Tensor> read = new ArrayList<>(List.of(sum));
    List<Object> arguments = new ArrayList<>();
    boolean isHalf = given == null || !ResidualKernels.isFloat(given.added());
    if (given == null) {
      arguments.addAll(List.of(GpuKernel.ABSENT, GpuKernel.ABSENT, sum, GpuKernel.ABSENT));
      arguments.add(GpuKernel.ABSENT);
    } else {
      read.addAll(List.of(given.added(), given.x()));
      arguments.addAll(List.of(given.added(), orAbsent(given.offset()), given.x()));
      arguments.addAll(List.of(orAbsent(given.make()), sum));
      if (given.offset().defined()) {
        read.add(given.offset());
      }
    }
    Tensor whole = new Tensor();
    Tensor copy = new Tensor();
    Tensor make = new Tensor();
    if (norm == null) {
      arguments.addAll(List.of(GpuKernel.ABSENT, GpuKernel.ABSENT));
    } else {
      read.addAll(List.of(norm.gamma(), norm.beta()));
      arguments.addAll(List.of(norm.gamma(), norm.beta()));
      whole = norm.isWhole() ? torch.empty_like(sum) : whole;
      copy = norm.copies() ? device.empty(torch.ScalarType.BFloat16, sum.shape()) : copy;
      make = device.empty(torch.ScalarType.Float, 2 * (width + rows));
    }
    arguments.addAll(List.of(orAbsent(whole), orAbsent(copy), orAbsent(make), rows, width));
    arguments.add(norm == null ? 0f : (float) norm.epsilon());
    arguments.addAll((given == null ? Draws.NONE : given.draws()).arguments());
    ResidualKernels.of(device, isHalf, width, read.toArray(Tensor[]::new))
        .forward(rows, arguments.toArray());
    return new Result(sum, whole, copy, make);
  }

  /**
   * Returns the gradients of a norm, and those of what was added before it.
   *
   * @param ofWhole gradient of y; may be undefined
   * @param ofCopy gradient of its copy; may be undefined
   * @param added dtype of what was added, or null where its gradient is not asked for
   */
  static Gradients ofNorm(
      Tensor ofWhole,
      Tensor ofCopy,
      Tensor sum,
      Tensor make,
      torch.@Nullable ScalarType added,
      Draws draws) {
    Tensor whole = ofWhole.defined() ? ofWhole.contiguous() : ofWhole;
    Tensor copy = ofCopy.defined() ? ofCopy.contiguous() : ofCopy;
    return backward(whole, copy, sum, make, added, draws);
  }

  /**
   * Returns the gradient of what was added, given that of the sum.
   *
   * @param gradient without gaps
   * @param added dtype of what was added
   */
  static Summed ofSum(Tensor gradient, torch.ScalarType added, Draws draws) {
    return backward(gradient, new Tensor(), new Tensor(), new Tensor(), added, draws).added();
  }

  private static Gradients backward(
      Tensor ofWhole,
      Tensor ofCopy,
      Tensor sum,
      Tensor make,
      torch.@Nullable ScalarType added,
      Draws draws) {
    Tensor like = sum.defined() ? sum : ofWhole;
    var device = ComputeDevice.of(like);
    int width = width(like);
    long rows = like.numel() / width;
    boolean isHalf = added == null || added.intern() == torch.ScalarType.BFloat16;
    Tensor[] read = {like, ofWhole.defined() ? ofWhole : like, ofCopy.defined() ? ofCopy : like};
    var kernels = ResidualKernels.of(device, isHalf, width, read);
    Tensor ofSum = sum.defined() ? torch.empty_like(sum) : new Tensor();
    Tensor ofAdded = added == null ? new Tensor() : device.empty(added.intern(), like.shape());
    Tensor parts = device.empty(torch.ScalarType.Float, kernels.gradientBlocks(rows), 3L * width);
    List<Object> arguments = new ArrayList<>();
    arguments.addAll(List.of(orAbsent(ofWhole), orAbsent(ofCopy), orAbsent(sum), orAbsent(make)));
    arguments.addAll(List.of(orAbsent(ofSum), orAbsent(ofAdded), parts, rows, width));
    arguments.addAll(draws.arguments());
    kernels.gradient(rows, arguments.toArray());
    Tensor sums = ColumnKernels.summed(parts).sums();
    return new Gradients(
        ofSum,
        new Summed(ofAdded, sums.narrow(0, 2L * width, width)),
        sums.narrow(0, 0, width),
        sums.narrow(0, width, width));
  }

  /**
   * Returns what a norm makes of a sum, in several passes: for those who cannot take it otherwise.
   */
  static Tensor made(Tensor sum, Tensor make) {
    long width = width(sum);
    long rows = sum.numel() / width;
    Tensor means = make.narrow(0, 2 * width, rows).unsqueeze(1);
    Tensor inverses = make.narrow(0, 2 * width + rows, rows).unsqueeze(1);
    Tensor y = sum.reshape(rows, width).sub(means).mul_(inverses);
    return y.mul_(make.narrow(0, 0, width)).add_(make.narrow(0, width, width)).view(sum.sizes());
  }
}
