package dev.flotilla.strategy.shard;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Pending;
import dev.flotilla.collective.RankSlices;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.TensorScope;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import org.bytedeco.pytorch.Tensor;

/** Lets all-reduces add in the order of ranks, as a reduce-scatter in main memory does. */
final class RankOrder {

  private RankOrder() {}

  static Collective of(Collective group) {
    return (Collective)
        Proxy.newProxyInstance(
            Collective.class.getClassLoader(),
            new Class<?>[] {Collective.class},
            (_, method, arguments) -> {
              if (method.getName().equals("allReduce") && arguments[1] == Reduction.SUM) {
                return sum(group, (Tensor) arguments[0], (Traffic) arguments[2]);
              }
              try {
                return method.invoke(group, arguments);
              } catch (InvocationTargetException failure) {
                throw failure.getCause();
              }
            });
  }

  private static Pending sum(Collective group, Tensor tensor, Traffic traffic) {
    var slices = RankSlices.even(tensor.numel(), group.size());
    try (var _ = TensorScope.open()) {
      var own = tensor.new_empty(slices.length(group.rank()));
      group.reduceScatter(own, tensor, slices, traffic).await();
      group.allGather(tensor, own, slices, traffic).await();
      return Pending.DONE;
    }
  }
}
