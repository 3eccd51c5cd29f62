package dev.flotilla.bench;

import dev.flotilla.memory.ComputeDevice;
import java.util.List;
import java.util.Locale;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/** What checks of our kernels against libtorch's operations in float64 share. */
record KernelComparison(Verdicts verdicts) {

  static final ComputeDevice GPU = ComputeDevice.cuda(0);
  static final torch.ScalarType FLOAT = torch.ScalarType.Float;
  static final List<torch.ScalarType> TYPES = List.of(FLOAT, torch.ScalarType.BFloat16);

  static Tensor random(long... shape) {
    return GPU.empty(torch.ScalarType.Float, shape).normal_();
  }

  static Tensor leaf(Tensor tensor) {
    return tensor.detach().clone().set_requires_grad(true);
  }

  static Tensor wide(Tensor tensor) {
    return tensor.detach().to(torch.ScalarType.Double).set_requires_grad(true);
  }

  private static double distance(Tensor ours, Tensor exact) {
    Tensor difference = ours.to(torch.ScalarType.Double).sub(exact).abs().max();
    return difference.item_double() / Math.max(1e-30, exact.abs().max().item_double());
  }

  void expect(String what, Tensor ours, Tensor exact, double allowed) {
    double distance = distance(ours, exact);
    verdicts.expect(what, distance <= allowed, String.format(Locale.ROOT, "%.2e", distance));
  }
}
