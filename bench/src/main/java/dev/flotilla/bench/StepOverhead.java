package dev.flotilla.bench;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Momentum;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.Digits;
import dev.flotilla.zoo.model.LeNet5;
import org.bytedeco.javacpp.LongPointer;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.Conv2dImpl;
import org.bytedeco.pytorch.Conv2dOptions;
import org.bytedeco.pytorch.LinearImpl;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.SGD;
import org.bytedeco.pytorch.SGDOptions;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * A training step of LeNet-5, batch 64, one thread: Flotilla against the same step written by hand
 * on libtorch's modules and C++ optimizer.
 *
 * <p>{@code mvn -q -pl bench exec:exec -Dbench=StepOverhead}
 */
public final class StepOverhead {

  private static final int WARMUP = 200;

  private StepOverhead() {}

  /** Prints the ratio. */
  public static void main(String[] args) {
    int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 41;
    var digits = new Digits().train();
    try (var _ = TensorScope.open();
        var trainer =
            Trainer.on(World.solo())
                .model(new LeNet5(10))
                .optimizer(new Momentum(0.01, 0.9))
                .threads(1)
                .build()) {
      var batch = digits.load(java.util.stream.IntStream.range(0, 64).toArray());
      var bare = new BareLoop();
      Runnable ours = () -> trainer.step(batch);
      Runnable byHand = () -> bare.step(batch);
      Pairs.compare(ours, byHand, 2, WARMUP);
      var result = Pairs.compare(ours, byHand, rounds, 25);
      System.out.println("flotilla / by hand: " + result);
    }
  }

  /** What a careful user writes without Flotilla: modules, mean loss, zero_grad, step. */
  private static final class BareLoop extends Module {

    private final Conv2dImpl conv1 = register_module("conv1", convolution(1, 6));
    private final Conv2dImpl conv2 = register_module("conv2", convolution(6, 16));
    private final LinearImpl fc1 = register_module("fc1", new LinearImpl(400, 120));
    private final LinearImpl fc2 = register_module("fc2", new LinearImpl(120, 84));
    private final LinearImpl fc3 = register_module("fc3", new LinearImpl(84, 10));
    private final SGD optimizer;

    BareLoop() {
      var options = new SGDOptions(0.01);
      options.momentum().put(0.9);
      optimizer = new SGD(parameters(), options);
    }

    private static Conv2dImpl convolution(long inputs, long outputs) {
      return new Conv2dImpl(new Conv2dOptions(inputs, outputs, new LongPointer(5, 5)));
    }

    void step(Batch batch) {
      try (var _ = new PointerScope()) {
        optimizer.zero_grad();
        Tensor x = torch.max_pool2d(conv1.forward(batch.inputs().getFirst()).relu_(), 2, 2);
        x = torch.max_pool2d(conv2.forward(x).relu_(), 2, 2).flatten(1, -1);
        x = fc3.forward(fc2.forward(fc1.forward(x).relu_()).relu_());
        torch.cross_entropy_loss(x, batch.targets()).backward();
        optimizer.step();
      }
    }
  }
}
