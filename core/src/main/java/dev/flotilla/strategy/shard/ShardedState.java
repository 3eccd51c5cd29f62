package dev.flotilla.strategy.shard;

import dev.flotilla.arena.Layout;
import dev.flotilla.arena.ParameterShare;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.exchange.Exchange;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.StateMemory;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Model;
import dev.flotilla.step.Claim.ForwardStage;
import dev.flotilla.step.OptimizerUpdate;
import dev.flotilla.step.StepContext;
import dev.flotilla.step.Sync;
import dev.flotilla.step.Workers;
import dev.flotilla.wire.Dtype;
import dev.flotilla.wire.ReduceScatter;
import java.util.Optional;
import org.bytedeco.pytorch.Tensor;

/**
 * What a rank keeps by its settings, where that lies, and who works on it.
 *
 * @param settings how state is shared out
 */
record ShardedState(Sharding settings) {

  /** Returns what a rank keeps of the parameters, where passes do not find all of them there. */
  Optional<ParameterShare> share(Model model, Layout layout, Collective peers) {
    if (settings.stage() < 3 && !settings.hasHalves()) {
      return Optional.empty();
    }
    // Where all ranks hold 16-bit copies, slices are what only the update needs.
    boolean isBeside =
        settings.stage() < 3
            ? settings.offload() != Offload.NONE
            : settings.offload() == Offload.OPTIMIZER_AND_PARAMETERS;
    return Optional.of(
        new ParameterShare(
            Slicing.of(model, layout, peers.size()).of(peers.rank()),
            device -> memory(device, isBeside),
            settings.hasHalves()
                ? settings.parameters().scalarType()
                : layout.precision().scalarType(),
            !settings.keepsSlices()));
  }

  private StateMemory memory(ComputeDevice device, boolean isBeside) {
    return isBeside ? StateMemory.beside(device, settings.offloadFolder()) : StateMemory.on(device);
  }

  private StateMemory optimizerMemory(ComputeDevice device) {
    return settings.placement() == Placement.AUTO
        ? StateMemory.beyond(device, settings.offloadFolder())
        : memory(device, settings.offload() != Offload.NONE);
  }

  /** Makes the workers of all phases. */
  Workers workers(StepContext context) {
    var peers = context.peers();
    var arena = context.arena();
    var device = context.model().device();
    var slicing = Slicing.of(context.model().model(), arena.layout(), peers.size());
    var ranges = slicing.of(peers.rank());
    if (settings.keepsSlices()) {
      arena.keepGradients(ranges, memory(device, settings.offload() != Offload.NONE));
    }
    var own = new OwnSlices(arena, ranges);
    var workers =
        new Workers()
            .exchange(
                wire -> exchange(context, slicing, wire),
                new SlicedGradients(arena.gradients(), slicing, own.slices(), peers))
            .update(
                OptimizerUpdate.ofSlices(
                    arena.layout(),
                    context.updateSettings(),
                    own.slices(),
                    optimizerMemory(device),
                    numbers -> addUp(numbers, peers)))
            .sync(gather(context, slicing, own));
    return settings.stage() == 3 ? workers.forward(ForwardStage.GATHER, inner -> inner) : workers;
  }

  private Exchange exchange(StepContext context, Slicing slicing, Dtype wire) {
    var peers = context.peers();
    // Nothing is lost of gradients that have no more bits.
    var sum = ReduceScatter.of(peers, wire == Dtype.FP32 ? settings.parameters() : wire);
    return settings.keepsSlices()
        ? new SliceExchange(peers, slicing, context.arena(), sum)
        : new ScatterExchange(peers, slicing, sum);
  }

  private Sync gather(StepContext context, Slicing slicing, OwnSlices own) {
    if (settings.stage() < 3 && !settings.hasHalves()) {
      return new ParameterGather(context, slicing, own);
    }
    var kept = settings.keepGathered();
    var gate =
        new SegmentGate(context, slicing, kept == null ? 0 : kept.bytes(), settings.stage() < 3);
    return new SegmentGather(gate, slicing.of(context.peers().rank()), own);
  }

  /** Scalars travel from main memory, whatever carries tensors between GPUs. */
  private static void addUp(Tensor numbers, Collective ranks) {
    try (var _ = TensorScope.open()) {
      var sums = ComputeDevice.CPU.bring(numbers);
      ranks.allReduce(sums, Reduction.SUM, Traffic.SCALAR).await();
      if (numbers.is_cuda()) {
        numbers.copy_(sums);
      }
    }
  }
}
