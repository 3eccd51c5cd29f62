package dev.flotilla.bench;

import dev.flotilla.memory.Autocast;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.NativeLibraries;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.zoo.model.BiasGelu;
import dev.flotilla.zoo.model.CrossEntropyKernel;
import dev.flotilla.zoo.model.FusedLayerNorm;
import dev.flotilla.zoo.model.HalfProduct;
import dev.flotilla.zoo.model.ResidualSum;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import org.bytedeco.pytorch.BoolOptional;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorArrayRefOptional;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.global.torch;

/**
 * Compares our kernels with libtorch's operations in float64, gradients too: odd widths, one row,
 * rows that nothing is left of, and 2³¹ elements. Needs one GPU.
 */
final class KernelCheck {

  private static final ComputeDevice GPU = ComputeDevice.cuda(0);
  private static final double EPSILON = 1e-12;
  private static final torch.ScalarType FLOAT = torch.ScalarType.Float;
  private static final List<torch.ScalarType> TYPES = List.of(FLOAT, torch.ScalarType.BFloat16);
  private static final long SUM = 2;
  private static final long IGNORED = -100;

  private final Verdicts verdicts;

  KernelCheck(Verdicts verdicts) {
    this.verdicts = verdicts;
  }

  /** Runs all checks, prints a line for each, and ends with 1 if one fails. */
  public static void main(String[] args) {
    NativeLibraries.load();
    var verdicts = new Verdicts();
    new KernelCheck(verdicts).all();
    System.exit(verdicts.failures() == 0 ? 0 : 1);
  }

  void all() {
    for (long width : new long[] {1, 3, 32, 100, 255, 768, 1024, 2050, 4096, 8192}) {
      for (long rows : new long[] {1, 7, 3000}) {
        verdicts.check("norm " + rows + " x " + width, () -> norm(rows, width));
      }
    }
    for (long[] shape : new long[][] {{1, 1}, {1, 5}, {1, 1024}, {1031, 1017}, {3000, 1024}}) {
      for (double probability : new double[] {0, 0.1, 0.5}) {
        verdicts.check("add " + shape[0], () -> add(shape, probability));
      }
    }
    for (long width : new long[] {1, 3, 100, 255, 1024, 4096, 30522}) {
      for (long rows : new long[] {1, 7, 3000}) {
        for (var type : TYPES) {
          verdicts.check("gelu " + rows + " x " + width, () -> gelu(rows, width, type));
        }
      }
    }
    for (long outputs : new long[] {1, 24, 1000, 1021}) {
      for (long rows : new long[] {1, 7, 3000}) {
        verdicts.check("product " + rows + " x " + outputs, () -> product(rows, 56, outputs));
      }
    }
    verdicts.check("products side by side", this::productsApart);
    for (long width : new long[] {2, 1000, 1024, 30522}) {
      verdicts.check("cross entropy " + width, () -> crossEntropy(77, width));
    }
    verdicts.check("many elements", this::manyElements);
  }

  private static Tensor random(long... shape) {
    return GPU.empty(torch.ScalarType.Float, shape).normal_();
  }

  private static Tensor leaf(Tensor tensor) {
    return tensor.detach().clone().set_requires_grad(true);
  }

  private static Tensor wide(Tensor tensor) {
    return tensor.detach().to(torch.ScalarType.Double).set_requires_grad(true);
  }

  private static double distance(Tensor ours, Tensor exact) {
    Tensor difference = ours.to(torch.ScalarType.Double).sub(exact).abs().max();
    return difference.item_double() / Math.max(1e-30, exact.abs().max().item_double());
  }

  private void norm(long rows, long width) {
    try (var _ = TensorScope.open()) {
      Tensor input = leaf(random(rows, width).mul(new Scalar(3.0)).add(new Scalar(5.0)));
      Tensor gamma = leaf(random(width));
      Tensor beta = leaf(random(width));
      Tensor first = random(rows, width);
      Tensor second = random(rows, width).to(torch.ScalarType.BFloat16);
      var ours = FusedLayerNorm.of(input, gamma, beta, EPSILON, true).orElseThrow();
      Tensor loss = ours.whole().mul(first).sum().add(ours.half().mul(second).sum());
      loss.backward();
      Tensor x = wide(input);
      Tensor g = wide(gamma);
      Tensor b = wide(beta);
      Tensor exact =
          torch.layer_norm(
              x, new long[] {width}, new TensorOptional(g), new TensorOptional(b), EPSILON, true);
      exact.mul(first.add(second)).sum().backward();
      var label = String.format(Locale.ROOT, "norm %d x %d", rows, width);
      // The few numbers of a short row may lie so close together that rounding shows.
      double rounding = width < 32 ? 2e-5 : 2e-6;
      expect(label, ours.whole(), exact, rounding);
      expect(label + ", copy", ours.half(), exact, 4e-3);
      expect(label + ", gradient of gamma", gamma.grad(), g.grad(), 1e-5);
      expect(label + ", gradient of beta", beta.grad(), b.grad(), 1e-5);
      if (width > 3) { // Of one number, the mean is all there is, and two have no middle.
        expect(label + ", gradient", input.grad(), x.grad(), 1e-5);
      }
    }
  }

  private void expect(String what, Tensor ours, Tensor exact, double allowed) {
    double distance = distance(ours, exact);
    verdicts.expect(what, distance <= allowed, String.format(Locale.ROOT, "%.2e", distance));
  }

  private void add(long[] shape, double probability) {
    long length = shape[0] * shape[1];
    for (var type : TYPES) {
      try (var _ = TensorScope.open()) {
        GPU.generator().set_current_seed(17);
        Tensor added = leaf(random(shape).abs().add(new Scalar(1.0)).to(type));
        Tensor x = leaf(random(shape));
        GPU.generator().set_current_seed(42);
        // What is added may be overwritten, but not what lies behind it in memory.
        Tensor room = GPU.zeros(type, length + 8);
        Tensor copy = room.narrow(0, 0, length).view(shape).copy_(added);
        Tensor sum = ResidualSum.of(copy, x, probability).orElseThrow();
        verdicts.expect(
            "add " + length + ", nothing behind it",
            room.narrow(0, length, 8).eq(new Scalar(0.0)).all().item_bool(),
            "");
        Tensor gradient = random(shape);
        sum.mul(gradient).sum().backward();
        // Whatever was added is not zero, so its gradient tells what was kept.
        Tensor kept = added.grad().ne(new Scalar(0.0)).to(torch.ScalarType.Double);
        double scale = 1 / (1 - probability);
        Tensor exact = wide(x).add(wide(added).mul(kept).mul(new Scalar(scale)));
        var label = String.format(Locale.ROOT, "add %d, %.1f, %s", length, probability, type);
        double rounding = type == torch.ScalarType.Float ? 2e-6 : 5e-3;
        expect(label, sum, exact.detach(), 2e-6);
        expect(label + ", gradient of x", x.grad(), gradient, 0);
        Tensor wanted = gradient.to(torch.ScalarType.Double).mul(kept).mul(new Scalar(scale));
        expect(label + ", gradient", added.grad(), wanted, rounding);
        double share = kept.mean().item_double();
        double spread = 5 * Math.sqrt(probability * (1 - probability) / length);
        verdicts.expect(
            label + ", kept",
            length < 1000 || Math.abs(share - (1 - probability)) <= spread,
            String.format(Locale.ROOT, "%.4f", share));
        GPU.generator().set_current_seed(42);
        Tensor again = ResidualSum.of(added.clone(), x, probability).orElseThrow();
        verdicts.expect(label + ", again", again.equal(sum), "");
      }
    }
  }

  private void gelu(long rows, long width, torch.ScalarType type) {
    try (var _ = TensorScope.open()) {
      Tensor input = leaf(random(rows, width).mul(new Scalar(2.0)).to(type));
      Tensor offset = leaf(random(width));
      Tensor gradient = random(rows, width).to(type);
      Tensor ours = BiasGelu.of(input, offset).orElseThrow();
      ours.backward(gradient, new BoolOptional(), false, new TensorArrayRefOptional());
      Tensor x = wide(input);
      Tensor b = wide(offset);
      Tensor exact = torch.gelu(x.add(b));
      exact.mul(gradient).sum().backward();
      var label = String.format(Locale.ROOT, "gelu %d x %d, %s", rows, width, type);
      double rounding = type == torch.ScalarType.Float ? 2e-6 : 4e-3;
      expect(label, ours, exact, rounding);
      expect(label + ", gradient", input.grad(), x.grad(), rounding);
      expect(label + ", gradient of the offset", offset.grad(), b.grad(), 2e-5);
      Tensor again = BiasGelu.of(input, offset).orElseThrow();
      verdicts.expect(label + ", again", again.equal(ours), "");
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
      expect(label, ours, exact, 4e-3);
      expect(label + ", gradient", input.grad(), x.grad(), 4e-3);
      expect(label + ", gradient of the matrix", matrix.grad(), w.grad(), 1e-5);
      expect(label + ", gradient of the offset", offset.grad(), b.grad(), 1e-5);
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
      var exactMatrices = matrices.stream().map(KernelCheck::wide).toList();
      var exactOffsets = offsets.stream().map(KernelCheck::wide).toList();
      Tensor x = wide(input);
      for (int i = 0; i < 3; i++) {
        Tensor seed = random(4, 9, 40).to(torch.ScalarType.BFloat16);
        Tensor w = exactMatrices.get(i).to(torch.ScalarType.BFloat16).to(torch.ScalarType.Double);
        Tensor exact = x.matmul(w.t()).add(exactOffsets.get(i));
        expect("product, part " + i, parts.get(i), exact, 8e-3);
        loss = loss.add(parts.get(i).mul(seed).sum());
        exactLoss = exactLoss.add(exact.mul(seed).sum());
      }
      loss.backward();
      exactLoss.backward();
      expect("products, gradient", input.grad(), x.grad(), 8e-3);
      for (int i = 0; i < 3; i++) {
        var label = "product, part " + i + ", gradient of the ";
        expect(label + "matrix", matrices.get(i).grad(), exactMatrices.get(i).grad(), 8e-3);
        expect(label + "offset", offsets.get(i).grad(), exactOffsets.get(i).grad(), 1e-5);
      }
    }
  }

  private void crossEntropy(long rows, long width) {
    try (var _ = TensorScope.open()) {
      long stride = Math.ceilDiv(width, 8L) * 8;
      Tensor room = random(rows, stride).mul(new Scalar(4.0)).to(torch.ScalarType.BFloat16);
      Tensor classes = GPU.empty(torch.ScalarType.Long, rows).random_(width);
      classes.narrow(0, 0, 1).fill_(new Scalar(-100.0));
      for (var logits : List.of(room.narrow(1, 0, width), room.narrow(1, 0, width).contiguous())) {
        Tensor given = logits.detach().set_requires_grad(true);
        Tensor loss = CrossEntropyKernel.sum(given, classes).orElseThrow();
        loss.mul(new Scalar(0.5)).backward();
        Tensor z = wide(logits);
        Tensor exact = torch.cross_entropy_loss(z, classes, new TensorOptional(), SUM, IGNORED, 0);
        exact.mul(new Scalar(0.5)).backward();
        var label = String.format(Locale.ROOT, "cross entropy %d x %d", rows, width);
        expect(label, loss, exact, 1e-5);
        expect(label + ", gradient", given.grad(), z.grad(), 4e-3);
      }
    }
  }

  private void manyElements() {
    long width = 1024;
    long rows = (1L << 31) / width + 1;
    try (var _ = TensorScope.open()) {
      Tensor x = random(rows, width);
      Tensor added = GPU.empty(torch.ScalarType.BFloat16, rows, width).fill_(new Scalar(1.0));
      Tensor sum = ResidualSum.of(added, x, 0.25).orElseThrow();
      Tensor last = sum.narrow(0, rows - 2, 2).sub(x.narrow(0, rows - 2, 2));
      Tensor isKept = last.sub(new Scalar(1 / 0.75)).abs().lt(new Scalar(1e-5));
      Tensor isDropped = last.eq(new Scalar(0.0));
      verdicts.expect(
          "add, beyond 2^31 elements", isKept.logical_or(isDropped).all().item_bool(), "");
      Tensor gamma = random(width);
      Tensor beta = random(width);
      var ours = FusedLayerNorm.of(sum, gamma, beta, 1e-5, false).orElseThrow().whole();
      Tensor exact =
          torch.layer_norm(
              sum.narrow(0, rows - 2, 2).to(torch.ScalarType.Double),
              new long[] {width},
              new TensorOptional(gamma.to(torch.ScalarType.Double)),
              new TensorOptional(beta.to(torch.ScalarType.Double)),
              1e-5,
              true);
      expect("norm, beyond 2^31 elements", ours.narrow(0, rows - 2, 2), exact, 2e-6);
    }
    manyOfGelu(rows, width);
  }

  private void manyOfGelu(long rows, long width) {
    try (var _ = TensorScope.open()) {
      Tensor input =
          GPU.empty(torch.ScalarType.BFloat16, rows, width)
              .fill_(new Scalar(0.5))
              .set_requires_grad(true);
      Tensor offset = leaf(random(width));
      Tensor ours = BiasGelu.of(input, offset).orElseThrow();
      Tensor seed = torch.ones_like(ours);
      ours.backward(seed, new BoolOptional(), false, new TensorArrayRefOptional());
      Tensor b = wide(offset);
      Tensor exact = torch.gelu(b.add(new Scalar(0.5)));
      exact.mul(new Scalar((double) rows)).sum().backward();
      expect("gelu, beyond 2^31 elements", ours.narrow(0, rows - 1, 1).view(-1), exact, 4e-3);
      expect("gelu, beyond 2^31 elements, gradient of the offset", offset.grad(), b.grad(), 1e-4);
    }
  }
}
