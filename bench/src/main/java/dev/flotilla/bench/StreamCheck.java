package dev.flotilla.bench;

import static dev.flotilla.bench.KernelComparison.GPU;
import static dev.flotilla.bench.KernelComparison.TYPES;
import static dev.flotilla.bench.KernelComparison.leaf;
import static dev.flotilla.bench.KernelComparison.random;
import static dev.flotilla.bench.KernelComparison.wide;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.zoo.model.FusedLayerNorm;
import dev.flotilla.zoo.model.ResidualSum;
import java.util.Locale;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.global.torch;

/** {@link ResidualSum} and {@link FusedLayerNorm}: odd widths, one row, and 2³¹ elements. */
final class StreamCheck {

  private static final double EPSILON = 1e-12;

  private final Verdicts verdicts;
  private final KernelComparison kernels;

  StreamCheck(Verdicts verdicts) {
    this.verdicts = verdicts;
    kernels = new KernelComparison(verdicts);
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
    verdicts.check("many elements", this::manyElements);
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
      kernels.expect(label, ours.whole(), exact, rounding);
      kernels.expect(label + ", copy", ours.half(), exact, 4e-3);
      kernels.expect(label + ", gradient of gamma", gamma.grad(), g.grad(), 1e-5);
      kernels.expect(label + ", gradient of beta", beta.grad(), b.grad(), 1e-5);
      if (width > 3) { // Of one number, the mean is all there is, and two have no middle.
        kernels.expect(label + ", gradient", input.grad(), x.grad(), 1e-5);
      }
    }
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
        kernels.expect(label, sum, exact.detach(), 2e-6);
        kernels.expect(label + ", gradient of x", x.grad(), gradient, 0);
        Tensor wanted = gradient.to(torch.ScalarType.Double).mul(kept).mul(new Scalar(scale));
        kernels.expect(label + ", gradient", added.grad(), wanted, rounding);
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
      kernels.expect("norm, beyond 2^31 elements", ours.narrow(0, rows - 2, 2), exact, 2e-6);
    }
  }
}
