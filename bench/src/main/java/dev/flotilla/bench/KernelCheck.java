package dev.flotilla.bench;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.NativeLibraries;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.zoo.model.FusedLayerNorm;
import dev.flotilla.zoo.model.ResidualSum;
import java.util.Locale;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.global.torch;

/**
 * Compares our kernels with libtorch's operations in float64, gradients too: odd widths, one row,
 * rows that nothing is left of, and 2³¹ elements. Needs one GPU.
 */
final class KernelCheck {

  private static final ComputeDevice GPU = ComputeDevice.cuda(0);
  private static final double EPSILON = 1e-12;

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
    for (long length : new long[] {1, 5, 1024, (1 << 20) + 3}) {
      for (double probability : new double[] {0, 0.1, 0.5}) {
        verdicts.check("add " + length, () -> add(length, probability));
      }
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

  private void add(long length, double probability) {
    for (var type : new torch.ScalarType[] {torch.ScalarType.Float, torch.ScalarType.BFloat16}) {
      try (var _ = TensorScope.open()) {
        GPU.generator().set_current_seed(17);
        Tensor added = leaf(random(length).abs().add(new Scalar(1.0)).to(type));
        Tensor x = leaf(random(length));
        GPU.generator().set_current_seed(42);
        // What is added may be overwritten, but not what lies behind it in memory.
        Tensor room = GPU.zeros(type, length + 8);
        Tensor copy = room.narrow(0, 0, length).copy_(added);
        Tensor sum = ResidualSum.of(copy, x, probability).orElseThrow();
        verdicts.expect(
            "add " + length + ", nothing behind it",
            room.narrow(0, length, 8).eq(new Scalar(0.0)).all().item_bool(),
            "");
        Tensor gradient = random(length);
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
  }
}
