package dev.flotilla.pass;

import dev.flotilla.arena.Section;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.TensorScope;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/** Gives all ranks the parameters and buffers of rank 0. */
public final class StartUp {

  private StartUp() {}

  /** Whatever the type of a user's buffer: collectives know only some. */
  private static void broadcastBytes(Collective collective, Tensor tensor) {
    if (tensor.numel() > 0) {
      try (var _ = TensorScope.open()) {
        var bytes = tensor.view(-1L).view(torch.ScalarType.Byte);
        collective.broadcast(bytes, 0, Traffic.START).await();
      }
    }
  }

  /** Broadcasts a part of the parameters; the layouts have been agreed on before. */
  public static void broadcast(Collective collective, Section section) {
    if (collective.size() > 1 && section.range().length() > 0) {
      collective.broadcast(section.values(), 0, Traffic.START).await();
    }
  }

  /** Broadcasts what a model holds besides its trainable parameters. */
  public static void broadcastOthers(Collective collective, BoundModel model) {
    if (collective.size() == 1) {
      return;
    }
    for (var frozen : model.frozen().values()) {
      collective.broadcast(frozen, 0, Traffic.START).await();
    }
    for (var buffer : model.buffers().buffers().values()) {
      broadcastBytes(collective, buffer);
    }
  }
}
