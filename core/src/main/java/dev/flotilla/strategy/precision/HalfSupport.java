package dev.flotilla.strategy.precision;

import dev.flotilla.memory.Autocast;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.wire.Dtype;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.global.torch;

/** Finds out whether this device computes in a type. */
final class HalfSupport {

  private HalfSupport() {}

  /** Tries what models are made of, forward and backward. */
  static void require(Dtype type, ComputeDevice device) {
    try (var _ = TensorScope.open();
        var _ = Autocast.to(type.scalarType(), device)) {
      var x = device.zeros(torch.ScalarType.Float, 2, 3, 8, 8).set_requires_grad(true);
      var kernel = device.zeros(torch.ScalarType.Float, 4, 3, 3, 3).set_requires_grad(true);
      var matrix = device.zeros(torch.ScalarType.Float, 5, 144).set_requires_grad(true);
      var seen = torch.conv2d(x, kernel).relu().flatten(1, -1);
      torch.linear(seen, matrix, new TensorOptional()).sum().backward();
    } catch (RuntimeException notThere) {
      throw new ConfigException(
          "strategy.amp.dtype",
          "%s is not supported on this device (%s); use bf16, or leave amp out"
              .formatted(
                  type.word(),
                  String.valueOf(notThere.getMessage()).lines().findFirst().orElse("")));
    }
  }
}
