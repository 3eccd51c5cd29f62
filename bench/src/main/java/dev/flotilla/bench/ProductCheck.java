package dev.flotilla.bench;

import static dev.flotilla.bench.KernelComparison.FLOAT;
import static dev.flotilla.bench.KernelComparison.GPU;
import static dev.flotilla.bench.KernelComparison.leaf;
import static dev.flotilla.bench.KernelComparison.random;
import static dev.flotilla.bench.KernelComparison.wide;

import dev.flotilla.memory.Autocast;
import dev.flotilla.memory.DeviceMemory;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.AutogradFunction;
import dev.flotilla.zoo.model.CrossEntropyKernel;
import dev.flotilla.zoo.model.HalfProduct;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import org.bytedeco.pytorch.BoolOptional;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorArrayRefOptional;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;

/** {@link HalfProduct} and {@link CrossEntropyKernel}: odd widths and one row. */
final class ProductCheck {

  private static final long SUM = 2;
  private static final long IGNORED = -100;

  /** cuBLAS may add parts of a product of few rows in bf16, and so rounds twice. */
  private static final double ROUNDED_TWICE = 8e-3;

  private final Verdicts verdicts;
  private final KernelComparison kernels;

  ProductCheck(Verdicts verdicts) {
    this.verdicts = verdicts;
    kernels = new KernelComparison(verdicts);
  }

  void all() {
    for (long outputs : new long[] {1, 24, 1000, 1021}) {
      for (long rows : new long[] {1, 7, 3000}) {
        verdicts.check("product " + rows + " x " + outputs, () -> product(rows, 56, outputs));
      }
    }
    verdicts.check("products side by side", this::productsApart);
    for (long width : new long[] {2, 1000, 1024, 30522}) {
      verdicts.check("cross entropy " + width, () -> crossEntropy(77, width));
    }
    verdicts.check("head in place", this::headInPlace);
    for (long outputs : new long[] {1021, 1024, 30522}) {
      for (var between : Between.values()) {
        verdicts.check("head of " + outputs + ", " + between, () -> head(outputs, between));
      }
    }
  }

  /** What becomes of logits before their loss. */
  private enum Between {
    NOTHING {
      @Override
      Tensor of(Tensor logits) {
        return logits;
      }
    },
    A_FACTOR {
      @Override
      Tensor of(Tensor logits) {
        return logits.mul(new Scalar(0.5));
      }
    },
    /** The gradient of what is cut out has numbers of others between its rows. */
    A_LARGER_MATRIX {
      @Override
      Tensor of(Tensor logits) {
        Tensor others = logits.narrow(1, 0, 6).mul(new Scalar(0.25));
        return torch.cat(new TensorVector(logits, others), 1);
      }
    };

    abstract Tensor of(Tensor logits);
  }

  /** A product and the cross entropy behind it, which hands it a gradient with gaps. */
  private void head(long outputs, Between between) {
    long rows = 77;
    try (var _ = TensorScope.open();
        var _ = Autocast.to(torch.ScalarType.BFloat16, GPU)) {
      // Small logits, as their rounding is that of the exponent in softmax.
      Tensor input = leaf(random(rows, 64).mul(new Scalar(0.0625)).to(torch.ScalarType.BFloat16));
      Tensor matrix = leaf(random(outputs, 64).to(torch.ScalarType.BFloat16).to(FLOAT));
      Tensor offset = leaf(GPU.zeros(FLOAT, outputs));
      Tensor classes = GPU.empty(torch.ScalarType.Long, rows).random_(outputs);
      Tensor logits = new HalfProduct(List.of(matrix), List.of(offset)).apply(input);
      Tensor loss = CrossEntropyKernel.sum(between.of(logits), classes).orElseThrow();
      loss.mul(new Scalar(outputs == 1021 ? 0.5 : 1.0)).backward();
      Tensor x = wide(input);
      Tensor w = wide(matrix);
      Tensor b = wide(offset);
      Tensor z = between.of(x.mm(w.t()).add(b));
      Tensor exact = torch.cross_entropy_loss(z, classes, new TensorOptional(), SUM, IGNORED, 0);
      exact.mul(new Scalar(outputs == 1021 ? 0.5 : 1.0)).backward();
      var label = String.format(Locale.ROOT, "head of %d, %s", outputs, between);
      kernels.expect(label + ", gradient", input.grad(), x.grad(), 1e-2);
      kernels.expect(label + ", gradient of the matrix", matrix.grad(), w.grad(), 1e-2);
      kernels.expect(label + ", gradient of the offset", offset.grad(), b.grad(), 1e-2);
    }
  }

  /** The gradient of logits that nobody holds takes their memory, and comes to the same bits. */
  private void headInPlace() {
    long rows = 77;
    long outputs = 1021;
    try (var _ = TensorScope.open();
        var _ = Autocast.to(torch.ScalarType.BFloat16, GPU)) {
      Tensor values = random(rows, 64).to(torch.ScalarType.BFloat16);
      Tensor matrix = leaf(random(outputs, 64));
      Tensor offset = leaf(GPU.zeros(FLOAT, outputs));
      Tensor classes = GPU.empty(torch.ScalarType.Long, rows).random_(outputs);
      var product = new HalfProduct(List.of(matrix), List.of(offset));
      var memory = new DeviceMemory(GPU);
      List<Tensor> gradients = new ArrayList<>();
      List<Long> peaks = new ArrayList<>();
      for (boolean isHeld : new boolean[] {true, true, false}) { // The first makes things ready.
        Tensor input = leaf(values);
        long peak =
            memory.peakBytesOf(
                () -> {
                  try (var scope = TensorScope.open()) {
                    Tensor loss;
                    try (var inner = TensorScope.open()) {
                      Tensor logits = product.apply(input);
                      loss = inner.handOut(CrossEntropyKernel.sum(logits, classes).orElseThrow());
                      if (isHeld) {
                        inner.handOut(logits);
                      }
                    }
                    loss.mul(new Scalar(0.5)).backward();
                    AutogradFunction.backwardEnded();
                    gradients.add(scope.handOut(input.grad().clone()));
                  }
                });
        peaks.add(peak);
      }
      kernels.expect("head, logits overwritten or not", gradients.get(2), gradients.get(1), 0);
      long logits = rows * 1024 * 2;
      verdicts.expect(
          "head: logits that nobody holds are overwritten",
          peaks.get(1) - peaks.get(2) >= logits,
          peaks.get(1) + " and " + peaks.get(2) + " bytes, logits of " + logits);
    }
  }

  private void product(long rows, long inputs, long outputs) {
    try (var _ = TensorScope.open();
        var _ = Autocast.to(torch.ScalarType.BFloat16, GPU)) {
      Tensor input = leaf(random(rows, inputs).to(torch.ScalarType.BFloat16));
      // Numbers that bf16 has, so that nothing but the product rounds.
      Tensor matrix = leaf(random(outputs, inputs).to(torch.ScalarType.BFloat16).to(FLOAT));
      Tensor offset = leaf(random(outputs).to(torch.ScalarType.BFloat16).to(FLOAT));
      var product = new HalfProduct(List.of(matrix), List.of(offset));
      Tensor gradient = random(rows, outputs).to(torch.ScalarType.BFloat16);
      Tensor ours = product.apply(input);
      ours.backward(gradient, new BoolOptional(), false, new TensorArrayRefOptional());
      Tensor x = wide(input);
      Tensor w = wide(matrix);
      Tensor b = wide(offset);
      Tensor exact = x.mm(w.t()).add(b);
      exact.mul(gradient).sum().backward();
      var label = String.format(Locale.ROOT, "product %d x %d", rows, outputs);
      kernels.expect(label, ours, exact, ROUNDED_TWICE);
      kernels.expect(label + ", gradient", input.grad(), x.grad(), ROUNDED_TWICE);
      kernels.expect(label + ", gradient of the matrix", matrix.grad(), w.grad(), 1e-5);
      kernels.expect(label + ", gradient of the offset", offset.grad(), b.grad(), 1e-5);
    }
  }

  private void productsApart() {
    try (var _ = TensorScope.open();
        var _ = Autocast.to(torch.ScalarType.BFloat16, GPU)) {
      Tensor input = leaf(random(4, 9, 48).to(torch.ScalarType.BFloat16));
      var matrices = IntStream.range(0, 3).mapToObj(_ -> leaf(random(40, 48))).toList();
      var offsets = IntStream.range(0, 3).mapToObj(_ -> leaf(random(40))).toList();
      var parts = new HalfProduct(matrices, offsets).applyApart(input);
      Tensor loss = GPU.zeros(FLOAT, 1);
      Tensor exactLoss = GPU.zeros(torch.ScalarType.Double, 1);
      var exactMatrices = matrices.stream().map(KernelComparison::wide).toList();
      var exactOffsets = offsets.stream().map(KernelComparison::wide).toList();
      Tensor x = wide(input);
      for (int i = 0; i < 3; i++) {
        Tensor seed = random(4, 9, 40).to(torch.ScalarType.BFloat16);
        Tensor w = exactMatrices.get(i).to(torch.ScalarType.BFloat16).to(torch.ScalarType.Double);
        Tensor exact = x.matmul(w.t()).add(exactOffsets.get(i));
        kernels.expect("product, part " + i, parts.get(i), exact, 8e-3);
        loss = loss.add(parts.get(i).mul(seed).sum());
        exactLoss = exactLoss.add(exact.mul(seed).sum());
      }
      loss.backward();
      exactLoss.backward();
      kernels.expect("products, gradient", input.grad(), x.grad(), 8e-3);
      for (int i = 0; i < 3; i++) {
        var label = "product, part " + i + ", gradient of the ";
        kernels.expect(label + "matrix", matrices.get(i).grad(), exactMatrices.get(i).grad(), 8e-3);
        kernels.expect(label + "offset", offsets.get(i).grad(), exactOffsets.get(i).grad(), 1e-5);
      }
    }
  }

  private void crossEntropy(long rows, long width) {
    crossEntropy(rows, width, torch.ScalarType.BFloat16, 4e-3);
    crossEntropy(rows, width, torch.ScalarType.Float, 1e-5);
  }

  private void crossEntropy(long rows, long width, torch.ScalarType type, double rounding) {
    try (var _ = TensorScope.open()) {
      long stride = Math.ceilDiv(width, 8L) * 8;
      Tensor room = random(rows, stride).mul(new Scalar(4.0)).to(type);
      Tensor classes = GPU.empty(torch.ScalarType.Long, rows).random_(width);
      classes.narrow(0, 0, 1).fill_(new Scalar(-100.0));
      for (var logits : List.of(room.narrow(1, 0, width), room.narrow(1, 0, width).contiguous())) {
        Tensor given = logits.detach().set_requires_grad(true);
        Tensor loss = CrossEntropyKernel.sum(given, classes).orElseThrow();
        loss.mul(new Scalar(0.5)).backward();
        Tensor z = wide(logits);
        Tensor exact = torch.cross_entropy_loss(z, classes, new TensorOptional(), SUM, IGNORED, 0);
        exact.mul(new Scalar(0.5)).backward();
        var label = String.format(Locale.ROOT, "cross entropy %d x %d, %s", rows, width, type);
        kernels.expect(label, loss, exact, 1e-5);
        kernels.expect(label + ", gradient", given.grad(), z.grad(), rounding);
      }
    }
  }
}
