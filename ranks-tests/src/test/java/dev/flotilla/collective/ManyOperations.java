package dev.flotilla.collective;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.testkit.LeakProbe;
import java.time.Duration;
import org.bytedeco.pytorch.Tensor;

/** A rank that makes many operations and prints how much native memory they took. */
final class ManyOperations {

  private ManyOperations() {}

  public static void main(String[] arguments) {
    System.out.println("joining");
    try (var _ = TensorScope.open();
        var group = ProcessWorld.join(Duration.ofSeconds(20))) {
      group.barrier();
      System.out.printf("grew by %d bytes%n", growth(group));
    }
  }

  private static long growth(Collective group) {
    var tensor = Tensors.floats(0, 256);
    var whole = Tensors.floats(0, 512);
    repeat(group, whole, tensor, 1_000);
    long before = LeakProbe.settledBytes();
    repeat(group, whole, tensor, 2_000);
    return LeakProbe.settledBytes() - before;
  }

  private static void repeat(Collective group, Tensor whole, Tensor tensor, int times) {
    for (int i = 0; i < times; i++) {
      group.allReduce(tensor, Reduction.SUM, Traffic.EXCHANGE).await();
      if (i % 10 == 0) {
        group.broadcast(tensor, 0, Traffic.START).await();
        group.allGather(whole, tensor, Traffic.EXCHANGE).await();
        group.allToAll(whole.narrow(0, 0, 256), tensor, Traffic.EXCHANGE).await();
        group.barrier();
      }
    }
  }
}
