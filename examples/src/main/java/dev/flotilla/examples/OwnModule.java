package dev.flotilla.examples;

import dev.flotilla.memory.NativeLibraries;
import dev.flotilla.model.Classification;
import dev.flotilla.model.Model;
import dev.flotilla.optim.Cosine;
import dev.flotilla.optim.Momentum;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.Digits;
import org.bytedeco.pytorch.LinearImpl;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/** The baseline with a module written against the libtorch binding, as a model of one segment. */
public final class OwnModule {

  private OwnModule() {}

  /** Two layers over flattened images. Forward is plain Java: no Sequential, no AnyModule. */
  private static final class TwoLayers extends Module {

    private final LinearImpl hidden = register_module("hidden", new LinearImpl(32 * 32, 128));
    private final LinearImpl output = register_module("output", new LinearImpl(128, 10));

    Tensor forward(Tensor images) {
      return output.forward(hidden.forward(images.flatten(1, -1)).relu_());
    }
  }

  /** Prints the accuracy on digits that were not trained on. */
  public static void main(String[] args) {
    System.out.printf("accuracy %.2f %%%n", 100 * run(8));
  }

  static double run(int epochs) {
    NativeLibraries.load(); // before the first object of the binding
    torch.manual_seed(42); // the module draws its own initial values; rank 0's are used by all
    var digits = new Digits();
    try (var module = new TwoLayers();
        var trainer =
            Trainer.on(World.join())
                .model(
                    Model.of(module, (images, _) -> module.forward(images), new Classification()))
                .optimizer(new Momentum(0.05, 0.9))
                .schedule(new Cosine())
                .build()) {
      var result = trainer.fit(digits.train().batches(64).shuffled(42), epochs);
      return result.accuracyOn(digits.test());
    }
  }
}
