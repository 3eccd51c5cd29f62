package dev.flotilla.bench;

import dev.flotilla.data.Batch;
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

/** LeNet-5 as a careful user writes it without Flotilla: modules, mean loss, zero_grad, step. */
final class BareLeNet extends Module {

  private final Conv2dImpl conv1 = register_module("conv1", convolution(1, 6));
  private final Conv2dImpl conv2 = register_module("conv2", convolution(6, 16));
  private final LinearImpl fc1 = register_module("fc1", new LinearImpl(400, 120));
  private final LinearImpl fc2 = register_module("fc2", new LinearImpl(120, 84));
  private final LinearImpl fc3 = register_module("fc3", new LinearImpl(84, 10));
  private final SGD optimizer;

  BareLeNet() {
    var options = new SGDOptions(0.01);
    options.momentum().put(0.9);
    optimizer = new SGD(parameters(), options);
  }

  private static Conv2dImpl convolution(long inputs, long outputs) {
    return new Conv2dImpl(new Conv2dOptions(inputs, outputs, new LongPointer(5, 5)));
  }

  void clear() {
    optimizer.zero_grad();
  }

  void forwardBackward(Batch batch) {
    try (var _ = new PointerScope()) {
      Tensor x = torch.max_pool2d(conv1.forward(batch.inputs().getFirst()).relu_(), 2, 2);
      x = torch.max_pool2d(conv2.forward(x).relu_(), 2, 2).flatten(1, -1);
      x = fc3.forward(fc2.forward(fc1.forward(x).relu_()).relu_());
      torch.cross_entropy_loss(x, batch.targets()).backward();
    }
  }

  void update() {
    try (var _ = new PointerScope()) {
      optimizer.step();
    }
  }
}
