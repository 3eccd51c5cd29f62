package dev.flotilla.strategy.shard;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Pending;
import dev.flotilla.collective.RankSlices;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.function.Consumer;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/** Lets all-reduces add in the order of ranks, as a reduce-scatter in main memory does. */
final class RankOrder {

  private static final int TOTALS = 3;

  private RankOrder() {}

  static Collective of(Collective group) {
    return of(group, _ -> {});
  }

  /** Rounds gradients to bf16 first; loss and count, behind them, stay as they are. */
  static Collective ofHalves(Collective group) {
    return of(
        group,
        tensor -> {
          var gradients = tensor.narrow(0, 0, tensor.numel() - TOTALS);
          var halves = Tensors.empty(torch.ScalarType.BFloat16, gradients.numel());
          gradients.copy_(halves.copy_(gradients));
        });
  }

  /** Lets those of subgroups and views do so, too. */
  static Collective withSubgroups(Collective group) {
    return of(group, _ -> {}, true);
  }

  private static Collective of(Collective group, Consumer<Tensor> round) {
    return of(group, round, false);
  }

  private static Collective of(Collective group, Consumer<Tensor> round, boolean isForAll) {
    return (Collective)
        Proxy.newProxyInstance(
            Collective.class.getClassLoader(),
            new Class<?>[] {Collective.class},
            (_, method, arguments) -> {
              if (method.getName().equals("allReduce") && arguments[1] == Reduction.SUM) {
                return sum(group, (Tensor) arguments[0], (Traffic) arguments[2], round);
              }
              if (isForAll && method.getName().equals("subgroup")) {
                return of(group.subgroup((int[]) arguments[0]), round, true);
              }
              if (isForAll && method.getName().equals("withTimeout")) {
                return of(group.withTimeout((Duration) arguments[0]), round, true);
              }
              try {
                return method.invoke(group, arguments);
              } catch (InvocationTargetException failure) {
                throw failure.getCause();
              }
            });
  }

  private static Pending sum(
      Collective group, Tensor tensor, Traffic traffic, Consumer<Tensor> round) {
    var slices = RankSlices.even(tensor.numel(), group.size());
    try (var _ = TensorScope.open()) {
      if (traffic == Traffic.EXCHANGE) {
        round.accept(tensor);
      }
      var own = tensor.new_empty(slices.length(group.rank()));
      group.reduceScatter(own, tensor, slices, traffic).await();
      group.allGather(tensor, own, slices, traffic).await();
      return Pending.DONE;
    }
  }
}
