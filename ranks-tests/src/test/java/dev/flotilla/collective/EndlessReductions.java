package dev.flotilla.collective;

import dev.flotilla.memory.TensorScope;
import java.time.Duration;

/** A rank that reduces until something fails, and then ends as a rank does. */
final class EndlessReductions {

  private EndlessReductions() {}

  public static void main(String[] arguments) {
    try (var _ = TensorScope.open();
        var group = ProcessWorld.join(Duration.ofSeconds(Long.parseLong(arguments[0])))) {
      var tensor = Tensors.floats(0, 100_000);
      group.barrier();
      System.out.println("working");
      while (true) {
        group.allReduce(tensor, Reduction.SUM, Traffic.EXCHANGE).await();
      }
    } catch (CollectiveException e) {
      System.out.println(e.getMessage());
      System.exit(e.exitCode());
    }
  }
}
