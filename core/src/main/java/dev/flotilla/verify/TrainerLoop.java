package dev.flotilla.verify;

import dev.flotilla.data.Batch;
import dev.flotilla.pass.BoundModel;
import dev.flotilla.train.NonFinite;
import dev.flotilla.train.Trainer;
import dev.flotilla.train.TrainerBuilder;
import java.util.Optional;

/** Flotilla's own trainer, step by step. */
final class TrainerLoop implements Loop {

  private final GradientCopy gradient = new GradientCopy();
  private final Trainer trainer;

  TrainerLoop(TrainerBuilder builder, long plannedUpdates) {
    trainer = builder.strategy(gradient).nonFinite(NonFinite.STOP).build();
    trainer.plannedUpdates(plannedUpdates);
  }

  @Override
  public BoundModel model() {
    return trainer.model();
  }

  @Override
  public Optional<double[]> step(Batch batch, MicroBatch place) {
    boolean updated = trainer.step(batch, place.isLastOfEpoch()).updated();
    return updated ? Optional.of(gradient.last()) : Optional.empty();
  }

  @Override
  public void close() {
    trainer.close();
  }
}
