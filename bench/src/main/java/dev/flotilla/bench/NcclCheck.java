package dev.flotilla.bench;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.CollectiveSettings;
import dev.flotilla.collective.Collectives;
import dev.flotilla.collective.GpuBackend;
import dev.flotilla.collective.RankSlices;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.DeviceMemory;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.world.World;
import java.util.List;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/** Calls every collective over NCCL, on one rank. */
final class NcclCheck {

  private static final int LENGTH = 1 << 20;
  private static final int SOAK = 2_000;

  private final ComputeDevice device = ComputeDevice.cuda(0);
  private final Verdicts verdicts;

  NcclCheck(Verdicts verdicts) {
    this.verdicts = verdicts;
  }

  private Collective join() {
    var settings = CollectiveSettings.defaults().withBackend(GpuBackend.NCCL);
    return Collectives.join(World.solo(), settings, device);
  }

  void everyOperation() {
    var types =
        List.of(
            torch.ScalarType.Float,
            torch.ScalarType.Double,
            torch.ScalarType.BFloat16,
            torch.ScalarType.Half,
            torch.ScalarType.Long,
            torch.ScalarType.Int,
            torch.ScalarType.Byte);
    try (var collective = join()) {
      for (var type : types) {
        try (var _ = TensorScope.open()) {
          verdicts.expect("every collective over NCCL, " + type, isRight(collective, type), "");
        }
      }
      try (var _ = TensorScope.open()) {
        var inMainMemory = ComputeDevice.CPU.zeros(torch.ScalarType.Float, 4).fill_(new Scalar(3));
        collective.allReduce(inMainMemory, Reduction.SUM, Traffic.SCALAR).await();
        collective.barrier();
        verdicts.expect("main memory beside it", inMainMemory.sum().item_double() == 12, "");
      }
      verdicts.expect(
          "operations are counted",
          collective.count(Traffic.EXCHANGE).operations() == 7L * types.size(),
          collective.count(Traffic.EXCHANGE).toString());
    }
  }

  private boolean isRight(Collective collective, torch.ScalarType type) {
    var values = device.zeros(type, LENGTH).fill_(new Scalar(7));
    var whole = device.zeros(type, LENGTH);
    collective.allReduce(values, Reduction.SUM, Traffic.EXCHANGE).await();
    collective.allReduce(values, Reduction.MAX, Traffic.EXCHANGE).await();
    collective.broadcast(values, 0, Traffic.EXCHANGE).await();
    collective.allGather(whole, values, Traffic.EXCHANGE).await();
    boolean isGathered = isSame(whole, values);
    whole.zero_();
    collective.allToAll(whole, values, Traffic.EXCHANGE).await();
    boolean isExchanged = isSame(whole, values);
    var slices = RankSlices.even(LENGTH, collective.size());
    whole.zero_();
    collective.reduceScatter(whole, values, slices, Traffic.EXCHANGE).await();
    boolean isScattered = isSame(whole, values);
    whole.zero_();
    collective.allGather(whole, values, slices, Traffic.EXCHANGE).await();
    return isGathered
        && isExchanged
        && isScattered
        && isSame(whole, values)
        && values.min().item_double() == 7;
  }

  private static boolean isSame(Tensor a, Tensor b) {
    return torch.equal(a, b);
  }

  /** Works that are not freed would keep their tensors. */
  void soak() {
    var memory = new DeviceMemory(device);
    try (var collective = join();
        var _ = TensorScope.open()) {
      var values = device.zeros(torch.ScalarType.Float, LENGTH);
      long before = memory.liveBytes();
      for (int i = 0; i < SOAK; i++) {
        try (var _ = TensorScope.open()) {
          var copy = values.clone();
          collective.allReduce(copy, Reduction.SUM, Traffic.EXCHANGE).await();
        }
      }
      device.synchronize();
      long grown = memory.liveBytes() - before;
      verdicts.expect(SOAK + " operations over NCCL leave nothing", grown == 0, grown + " bytes");
    }
  }
}
