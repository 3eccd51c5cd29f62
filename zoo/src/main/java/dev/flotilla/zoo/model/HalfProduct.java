package dev.flotilla.zoo.model;

import dev.flotilla.memory.Autocast;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.GpuKernel;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.AutogradFunction;
import dev.flotilla.model.GradientRooms;
import dev.flotilla.model.Products;
import dev.flotilla.zoo.model.ColumnKernels.Summed;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;
import org.bytedeco.pytorch.LongOptional;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.global.torch;

/**
 * W x + b in bf16 on a GPU, with parameters of float32: they are converted by one kernel, and the
 * product leaves their gradients in float32, so that none is rounded to 16 bits or converted back.
 *
 * <p>Several matrices of one width count as one, with their outputs side by side.
 */
public final class HalfProduct {

  private static final int THREADS = KernelSource.THREADS;
  private static final int LANES = 4;

  /** How many tensors the kernel takes. */
  private static final int MOST = 6;

  /** Outputs come in multiples of so many, or a product takes four times as long. */
  private static final long ALIGNED = 8;

  private final List<Tensor> matrices;
  private final List<Tensor> offsets;
  private final long rows;
  private final long columns;

  /** Rows of the converted matrix, the last of which may be zeros. */
  private final long aligned;

  /**
   * Creates a product.
   *
   * @param matrices parameters, each outputs × inputs
   * @param offsets one for each matrix, or none
   */
  public HalfProduct(List<Tensor> matrices, List<Tensor> offsets) {
    this.matrices = List.copyOf(matrices);
    this.offsets = List.copyOf(offsets);
    rows = matrices.stream().mapToLong(matrix -> matrix.size(0)).sum();
    columns = matrices.getFirst().size(1);
    boolean isOne = matrices.size() == 1 && rows > ALIGNED;
    aligned = isOne ? Math.ceilDiv(rows, ALIGNED) * ALIGNED : rows;
  }

  /**
   * Parameters in bf16.
   *
   * @param matrix outputs × inputs, with rows of zeros behind them up to a multiple
   * @param offset over the outputs, likewise; undefined without one
   */
  record Halves(Tensor matrix, Tensor offset) {}

  /** Tells whether products are in bf16 now, and it can make them. */
  public boolean suits() {
    Tensor first = matrices.getFirst();
    return first.is_cuda()
        && Autocast.current(ComputeDevice.of(first)) == torch.ScalarType.BFloat16
        && isPossible();
  }

  /** Tells whether its parameters are float32, and the kernels are there. */
  boolean isPossible() {
    Tensor first = matrices.getFirst();
    if (!first.is_cuda() || !parameters().stream().allMatch(ResidualKernels::isFloat)) {
      return false;
    }
    var device = ComputeDevice.of(first);
    return ColumnKernels.arePresent(device, torch.ScalarType.BFloat16, rows)
        && KernelSource.HALF.kernels(device, true, LANES).isPresent();
  }

  /** Returns the parameters, matrices first. */
  List<Tensor> parameters() {
    List<Tensor> all = new ArrayList<>(matrices);
    all.addAll(offsets);
    return all;
  }

  /** Converts the parameters. */
  Halves halves() {
    var device = ComputeDevice.of(matrices.getFirst());
    boolean hasOffset = !offsets.isEmpty();
    Tensor all =
        device.empty(torch.ScalarType.BFloat16, aligned + (hasOffset ? offsetRows() : 0), columns);
    convert(device, all);
    return hasOffset
        ? new Halves(all.narrow(0, 0, aligned), all.view(-1).narrow(0, aligned * columns, aligned))
        : new Halves(all, new Tensor());
  }

  /** The offset lies behind the matrix, in as many whole rows as it fills. */
  private long offsetRows() {
    return Math.ceilDiv(aligned, columns);
  }

  private void convert(ComputeDevice device, Tensor all) {
    List<Object> arguments = new ArrayList<>();
    int lanes = LANES;
    long end = 0;
    for (boolean isMatrix : new boolean[] {true, false}) {
      for (var parameter : isMatrix ? matrices : offsets) {
        end += parameter.numel();
        lanes = Math.min(lanes, KernelSource.lanes(LANES, parameter.numel(), parameter));
        arguments.add(parameter);
        arguments.add(end);
      }
      long gap = isMatrix ? (aligned - rows) * columns : offsets.isEmpty() ? 0 : aligned - rows;
      if (gap > 0) {
        end += gap;
        lanes = Math.min(lanes, gap % LANES == 0 ? LANES : 1);
        arguments.add(GpuKernel.ABSENT);
        arguments.add(end);
      }
    }
    while (arguments.size() < 2 * MOST) {
      arguments.add(GpuKernel.ABSENT);
      arguments.add(end);
    }
    arguments.add(all);
    int blocks = Math.toIntExact(Math.ceilDiv(end, (long) THREADS * lanes));
    var kernels = KernelSource.HALF.kernels(device, true, lanes).orElseThrow();
    Objects.requireNonNull(kernels.get("halves")).launch(blocks, THREADS, arguments.toArray());
  }

  /** Returns the product of an input in bf16, which nothing is recorded of. */
  Tensor plain(Tensor input, Halves halves) {
    Tensor output =
        Products.of(
            () -> torch.linear(input, halves.matrix(), new TensorOptional(halves.offset())));
    return aligned == rows ? output : output.narrow(-1, 0, rows).detach();
  }

  /**
   * Returns the gradients of the parameters in float32, matrices first, undefined where none is
   * wanted.
   *
   * @param input in bf16
   * @param gradient of the output, with columns of zeros or not, and the sums of its columns where
   *     there are offsets
   */
  List<Tensor> ofParameters(Tensor input, Summed gradient) {
    List<Tensor> parameters = new ArrayList<>();
    boolean isTrained = matrices.stream().anyMatch(Tensor::requires_grad);
    Tensor all =
        isTrained
            ? ofMatrices(flat(gradient.whole()).t(), input.reshape(-1, columns))
            : new Tensor();
    addParts(all, matrices, parameters);
    addParts(gradient.sums(), offsets, parameters);
    return parameters;
  }

  /** The gradient of one matrix may be written where it belongs. */
  private Tensor ofMatrices(Tensor outputs, Tensor inputs) {
    var room =
        matrices.size() == 1 ? GradientRooms.take(matrices.getFirst()) : Optional.<Tensor>empty();
    if (outputs.size(0) > rows) {
      Tensor all = torch.mm(outputs, inputs, torch.ScalarType.Float).narrow(0, 0, rows);
      return room.map(it -> it.copy_(all)).orElse(all);
    }
    if (room.isEmpty()) {
      return torch.mm(outputs, inputs, torch.ScalarType.Float);
    }
    torch.mm_out(room.get(), outputs, inputs, torch.ScalarType.Float);
    return room.get();
  }

  /** Returns the gradient of the input, given that of the output, with columns of zeros or not. */
  Tensor ofInput(Tensor input, Tensor matrix, Tensor gradient) {
    Tensor outputs = flat(gradient);
    return (outputs.size(1) == aligned ? outputs : filledUp(outputs))
        .mm(matrix)
        .view(input.shape());
  }

  private Tensor flat(Tensor gradient) {
    return gradient.dim() == 2 ? gradient : gradient.reshape(-1, rows);
  }

  /** Returns a gradient with columns of zeros behind it, up to a multiple. */
  private Summed aligned(Summed gradient) {
    Tensor whole = gradient.whole();
    if (aligned == rows) {
      return gradient;
    }
    boolean isThere = ZeroGaps.areIn(whole) && whole.stride(0) == aligned;
    return new Summed(
        isThere
            ? whole.as_strided(
                new long[] {whole.size(0), aligned},
                new long[] {aligned, 1},
                new LongOptional(whole.storage_offset()))
            : filledUp(whole),
        gradient.sums());
  }

  private Tensor filledUp(Tensor gradient) {
    Tensor all =
        ComputeDevice.of(gradient).empty(torch.ScalarType.BFloat16, gradient.size(0), aligned);
    all.narrow(1, rows, aligned - rows).zero_();
    all.narrow(1, 0, rows).copy_(gradient);
    return all;
  }

  private static void addParts(Tensor all, List<Tensor> of, List<Tensor> to) {
    long from = 0;
    for (var parameter : of) {
      long length = parameter.size(0);
      boolean isWhole = all.defined() && length == all.size(0);
      to.add(
          !parameter.requires_grad() ? new Tensor() : isWhole ? all : all.narrow(0, from, length));
      from += length;
    }
  }

  /** Returns the product of an input in bf16, recorded for backward. */
  public Tensor apply(Tensor input) {
    return record(input, false).getFirst();
  }

  /** Returns the products of each matrix, recorded for backward. */
  public List<Tensor> applyApart(Tensor input) {
    return record(input, true);
  }

  private List<Tensor> record(Tensor given, boolean isApart) {
    Tensor matrix;
    List<Tensor> outputs;
    try (var scope = TensorScope.open();
        var _ = new NoGradGuard()) {
      var halves = halves();
      matrix = scope.handOut(halves.matrix());
      Tensor output = plain(given, halves);
      outputs = isApart ? parts(output) : List.of(output);
      outputs.forEach(scope::handOut);
    }
    Tensor input = given.detach();
    boolean isWanted = given.requires_grad();
    List<Tensor> inputs = new ArrayList<>(List.of(given));
    inputs.addAll(parameters());
    AutogradFunction.record(
        inputs,
        outputs,
        List.of(input, matrix),
        gradients -> {
          var of = aligned(isApart ? joined(gradients) : summed(gradients.getFirst()));
          List<Tensor> all = new ArrayList<>();
          all.add(isWanted ? ofInput(input, matrix, of.whole()) : new Tensor());
          all.addAll(ofParameters(input, of));
          return all;
        });
    return outputs;
  }

  /** Views that no graph knows as such. */
  private List<Tensor> parts(Tensor output) {
    long each = rows / matrices.size();
    return IntStream.range(0, matrices.size())
        .mapToObj(i -> output.narrow(-1, i * each, each).detach())
        .toList();
  }

  private static Summed joined(List<Tensor> gradients) {
    Tensor shape = gradients.stream().filter(Tensor::defined).findFirst().orElseThrow();
    var all =
        gradients.stream()
            .map(it -> it.defined() ? it.contiguous() : torch.zeros_like(shape))
            .toList();
    return ColumnKernels.joined(all.get(0), all.get(1), all.get(2));
  }

  private Summed summed(Tensor gradient) {
    boolean isMatrix = gradient.dim() == 2 && gradient.stride(1) == 1;
    Tensor matrix = isMatrix ? gradient : gradient.reshape(-1, rows).contiguous();
    return offsets.isEmpty() ? new Summed(matrix, new Tensor()) : ColumnKernels.summed(matrix);
  }
}
