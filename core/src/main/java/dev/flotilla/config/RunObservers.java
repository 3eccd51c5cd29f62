package dev.flotilla.config;

import dev.flotilla.report.EventSink;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.report.tensorboard.TensorBoard;
import dev.flotilla.train.TrainerBuilder;
import dev.flotilla.world.World;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Other programs that a recipe lets look at a run: TensorBoard, Prometheus. */
final class RunObservers implements EventSink, AutoCloseable {

  private final RunConfig config;
  private final @Nullable MetricsEndpoint endpoint;
  private @Nullable TensorBoard board;

  private RunObservers(RunConfig config, @Nullable MetricsEndpoint endpoint) {
    this.config = config;
    this.endpoint = endpoint;
  }

  /**
   * Opens what has to be there before a run begins.
   *
   * @throws dev.flotilla.settings.ConfigException if a port is taken, or nothing serves it
   */
  static RunObservers open(RunConfig config, World world, EventSink people) {
    var settings = config.prometheus();
    if (settings == null) {
      return new RunObservers(config, null);
    }
    var endpoint = settings.open(world, config.origin());
    settings.warning().ifPresent(text -> people.on(new TrainingEvent.Noted(text)));
    people.on(new TrainingEvent.Measured("metrics for Prometheus: " + endpoint.address()));
    return new RunObservers(config, endpoint);
  }

  /** Opens the event files of a run in a folder; rank 0 alone does. */
  void openTensorBoard(Path run) {
    var settings = config.tensorboard();
    board = settings == null ? null : settings.open(run, config.origin());
  }

  /** Says what a trainer by this configuration will show, so that a plan can refuse it. */
  static TrainerBuilder planned(RunConfig config, TrainerBuilder trainer) {
    return withHistograms(config, trainer, null);
  }

  /** Lets the observers look at what a trainer does. */
  void watch(TrainerBuilder trainer) {
    var _ = withHistograms(config, trainer, board);
  }

  private static TrainerBuilder withHistograms(
      RunConfig config, TrainerBuilder trainer, @Nullable TensorBoard board) {
    var settings = config.tensorboard();
    var every = settings == null ? null : settings.histograms();
    return every == null ? trainer : trainer.histograms(every, board);
  }

  @Override
  public void on(TrainingEvent event) {
    if (endpoint != null) {
      endpoint.on(event);
    }
    if (board != null) {
      board.on(event);
    }
  }

  @Override
  public void close() {
    if (board != null) {
      board.close();
    }
    if (endpoint != null) {
      endpoint.close();
    }
  }
}
