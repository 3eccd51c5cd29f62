package dev.flotilla.booster;

import dev.flotilla.model.Model;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.train.Trainer;
import dev.flotilla.train.TrainerBuilder;
import dev.flotilla.world.World;

/**
 * Gives a model and an optimizer what a plugin does, for a loop of your own.
 *
 * <pre>{@code
 * try (var boosted = Booster.with(new LowLevelZero(1)).boost(world, model, optimizer)) {
 *     var data = boosted.prepare(dataset.batches(32).shuffled(42));
 *     int i = 0;
 *     for (var batch : data.epoch(0)) {
 *         if (++i % 4 == 0) {
 *             boosted.step(batch);               // the boundary: one exchange, one update
 *         } else {
 *             try (var _ = boosted.noSync()) {
 *                 boosted.forwardBackward(batch);
 *             }
 *         }
 *     }
 * }
 * }</pre>
 */
public final class Booster {

  private final Plugin plugin;

  private Booster(Plugin plugin) {
    this.plugin = plugin;
  }

  /** Returns a booster with a plugin. */
  public static Booster with(Plugin plugin) {
    return new Booster(plugin);
  }

  /** Joins the other ranks and makes a model ready; the caller closes what it returns. */
  public Boosted boost(World world, Model model, Optimizer optimizer) {
    return boost(Trainer.on(world).model(model).optimizer(optimizer));
  }

  /**
   * Joins the other ranks and makes ready what a builder has collected: model, optimizer, schedule,
   * seed, checkpoints, more techniques and whatever else it takes. The builder is used up.
   *
   * @throws dev.flotilla.strategy.PlanRejectedException if the plugin and what the builder has do
   *     not work together
   * @throws IllegalStateException if a technique of the builder decides when to update, which is
   *     the loop's to say
   */
  public Boosted boost(TrainerBuilder builder) {
    var world = builder.world();
    var trainer = builder.strategy(plugin.techniques(world).toArray(Strategy[]::new)).build();
    try {
      return new Boosted(plugin, world, trainer);
    } catch (RuntimeException failure) {
      trainer.close();
      throw failure;
    }
  }
}
