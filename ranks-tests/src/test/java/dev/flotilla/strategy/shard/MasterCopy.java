package dev.flotilla.strategy.shard;

import dev.flotilla.arena.Slot;
import dev.flotilla.data.Batch;
import dev.flotilla.memory.Autocast;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.model.Activations;
import dev.flotilla.model.ForwardMode;
import dev.flotilla.model.Model;
import dev.flotilla.model.Weights;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.pass.BoundModel;
import dev.flotilla.step.OptimizerUpdate;
import dev.flotilla.step.UpdateSettings;
import dev.flotilla.testkit.Snapshot;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.global.torch;

/**
 * Training with bf16 parameters and one float32 master copy in one process, as the formula has it:
 * round the master to bf16, take each rank's bf16 gradients there, add them in float32, divide by
 * the count, and update the master.
 */
final class MasterCopy implements Weights, AutoCloseable {

  private final BoundModel master;
  private final OptimizerUpdate update;
  private final double lr;
  private final Map<String, Tensor> rounded = new HashMap<>();

  MasterCopy(Model model, Optimizer optimizer, long seed) {
    master = new BoundModel(model, Precision.FLOAT32, seed, _ -> false);
    update = OptimizerUpdate.ofAll(master.arena(), new UpdateSettings(optimizer, null));
    lr = optimizer.lr();
  }

  /**
   * Makes an update.
   *
   * @param window the batches of each micro-step, one for each rank
   * @param roundsWindow whether a rank adds up its whole window before it rounds the sum, and not
   *     each micro-step's
   */
  void step(List<List<Batch>> window, boolean roundsWindow) {
    try (var _ = TensorScope.open()) {
      for (var slot : master.arena().layout().slots()) {
        var copy = place(slot, master.arena().values()).to(torch.ScalarType.BFloat16);
        rounded.put(slot.spec().name(), copy.detach().set_requires_grad(true));
      }
      var gradients = master.arena().gradients().values();
      gradients.zero_();
      long count = 0;
      if (roundsWindow) {
        for (int rank = 0; rank < window.getFirst().size(); rank++) {
          var own = gradients.new_zeros(gradients.numel());
          for (var microStep : window) {
            count += add(microStep.get(rank), own);
          }
          gradients.add_(own.to(torch.ScalarType.BFloat16));
        }
      } else {
        for (var microStep : window) {
          var sum = gradients.new_zeros(gradients.numel());
          for (var batch : microStep) {
            count += add(batch, sum);
          }
          gradients.add_(sum);
        }
      }
      Tensors.scale(gradients, 1.0 / count);
      update.apply(lr);
      rounded.clear();
    }
  }

  /** Adds the bf16 gradients of a batch. */
  private long add(Batch batch, Tensor sums) {
    long count;
    try (var _ = Autocast.to(torch.ScalarType.BFloat16, ComputeDevice.CPU)) {
      var model = master.model();
      var values = new Activations(batch.inputs());
      for (var segment : model.segments()) {
        values = segment.bind(this).apply(values, ForwardMode.TRAIN);
      }
      var loss = model.objective().loss(values, batch);
      loss.sum().backward();
      count = loss.count();
    }
    for (var slot : master.arena().layout().slots()) {
      var parameter = parameter(slot.spec().name());
      place(slot, sums).add_(parameter.grad());
      parameter.mutable_grad().put(new Tensor());
    }
    return count;
  }

  private static Tensor place(Slot slot, Tensor flat) {
    return slot.range().of(flat, 0).view(slot.spec().shape().toArray());
  }

  /** Returns the master copy. */
  Snapshot weights() {
    Map<String, double[]> values = new TreeMap<>();
    try (var _ = TensorScope.open()) {
      master
          .state()
          .forEach(
              (name, tensor) -> {
                var wide = tensor.detach().to(torch.ScalarType.Double).contiguous();
                values.put(name, NativeView.of(wide).toArray(ValueLayout.JAVA_DOUBLE));
              });
    }
    return new Snapshot(values);
  }

  @Override
  public Tensor parameter(String name) {
    return Objects.requireNonNull(rounded.get(name));
  }

  @Override
  public TensorOptional optional(String name) {
    return new TensorOptional(parameter(name));
  }

  @Override
  public Tensor buffer(String name) {
    throw new UnsupportedOperationException(name);
  }

  @Override
  public boolean isFrozen(String name) {
    return false;
  }

  @Override
  public void adoptParameter(String name, Tensor parameter) {
    throw new UnsupportedOperationException(name);
  }

  @Override
  public void adoptBuffer(String name, Tensor buffer) {
    throw new UnsupportedOperationException(name);
  }

  @Override
  public <P extends Pointer> P own(P constant) {
    return constant;
  }

  @Override
  public void close() {
    update.close();
    master.close();
  }
}
