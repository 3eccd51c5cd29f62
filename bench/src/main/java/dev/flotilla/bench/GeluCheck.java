package dev.flotilla.bench;

import static dev.flotilla.bench.KernelComparison.GPU;
import static dev.flotilla.bench.KernelComparison.TYPES;
import static dev.flotilla.bench.KernelComparison.leaf;
import static dev.flotilla.bench.KernelComparison.random;
import static dev.flotilla.bench.KernelComparison.wide;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.zoo.model.BiasGelu;
import java.util.Locale;
import org.bytedeco.pytorch.BoolOptional;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorArrayRefOptional;
import org.bytedeco.pytorch.global.torch;

/** {@link BiasGelu}: odd widths, one row, and 2³¹ elements. */
final class GeluCheck {

  private final Verdicts verdicts;
  private final KernelComparison kernels;

  GeluCheck(Verdicts verdicts) {
    this.verdicts = verdicts;
    kernels = new KernelComparison(verdicts);
  }

  void all() {
    for (long width : new long[] {1, 3, 100, 255, 1024, 4096, 30522}) {
      for (long rows : new long[] {1, 7, 3000}) {
        for (var type : TYPES) {
          verdicts.check("gelu " + rows + " x " + width, () -> gelu(rows, width, type));
        }
      }
    }
    verdicts.check("many elements of gelu", () -> manyElements((1L << 21) + 1, 1024));
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
      kernels.expect(label, ours, exact, rounding);
      kernels.expect(label + ", gradient", input.grad(), x.grad(), rounding);
      kernels.expect(label + ", gradient of the offset", offset.grad(), b.grad(), 2e-5);
      Tensor again = BiasGelu.of(input, offset).orElseThrow();
      verdicts.expect(label + ", again", again.equal(ours), "");
      Tensor recomputed = input.detach().clone();
      Tensor sums = BiasGelu.gradientAndOutputInPlace(gradient, recomputed, offset);
      boolean isSame =
          recomputed.equal(ours) && gradient.equal(input.grad()) && sums.equal(offset.grad());
      verdicts.expect(label + ", in one pass", isSame, "");
    }
  }

  private void manyElements(long rows, long width) {
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
      kernels.expect(
          "gelu, beyond 2^31 elements", ours.narrow(0, rows - 1, 1).view(-1), exact, 4e-3);
      kernels.expect(
          "gelu, beyond 2^31 elements, gradient of the offset", offset.grad(), b.grad(), 1e-4);
    }
  }
}
