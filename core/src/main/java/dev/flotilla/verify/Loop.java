package dev.flotilla.verify;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.Precision;
import dev.flotilla.model.Model;
import dev.flotilla.pass.BoundModel;
import java.util.Optional;

/**
 * A way to train: takes micro-batches one after the other and makes an update now and then.
 *
 * <p>Flotilla's own trainer is one; a loop that somebody has written by hand is another.
 */
public interface Loop extends AutoCloseable {

  /** Returns the model that this loop changes; verification sets its initial values. */
  BoundModel model();

  /**
   * Runs one micro-batch.
   *
   * @return the gradient that this step has updated the model with, in the layout of the model's
   *     arena; empty if it made no update
   */
  Optional<double[]> step(Batch batch, MicroBatch place);

  @Override
  void close();

  /** Starts a loop from the beginning. */
  @FunctionalInterface
  interface Opener {

    /** Returns a loop that trains a model in a dtype; at most one is open at a time. */
    Loop open(Model model, Precision precision);
  }
}
