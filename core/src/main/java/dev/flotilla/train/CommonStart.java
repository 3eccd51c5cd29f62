package dev.flotilla.train;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Collectives;
import dev.flotilla.control.JobLink;
import dev.flotilla.memory.NativeLibraries;
import dev.flotilla.pass.BoundModel;
import dev.flotilla.pass.StartUp;
import dev.flotilla.strategy.Property;
import dev.flotilla.world.RankEnvironment;
import java.util.SortedMap;
import java.util.function.Consumer;

/** Brings ranks together: one group, the same settings, and the same model on all of them. */
final class CommonStart {

  private final TrainerSettings settings;
  private final SortedMap<String, String> facts;
  private final Collective collective;
  private final BoundModel model;

  /**
   * Joins, allocates, agrees and loads; all ranks come here together.
   *
   * @param resources owns what is opened, also if a later step fails
   * @param notices takes one-line messages for the user
   */
  CommonStart(TrainerSettings settings, Resources resources, Consumer<String> notices) {
    this.settings = settings;
    var threads = settings.cpuThreads();
    threads.prepare();
    NativeLibraries.load();
    threads.apply();
    if (threads.isTooMany() && settings.world().localRank() == 0) {
      notices.accept(threads.warning());
    }
    var device =
        settings
            .device()
            .resolve(
                settings.world().localRank(),
                settings.world().localSize(),
                RankEnvironment.gpus(System.getenv()),
                notices);
    device.computeExactly();
    var joined = Collectives.join(settings.world(), settings.collectiveSettings(), device);
    collective = settings.wrapper().apply(resources.own(joined));
    model =
        resources.own(
            new BoundModel(
                settings.model(),
                settings.precision(),
                device,
                settings.seed(),
                settings.frozen(),
                settings.strategies().stream()
                    .anyMatch(it -> it.properties().contains(Property.SHARDS_PARAMETERS))));
    facts = new RunFacts(settings, model.arena().layout()).agreedOn(collective);
    loadInitialWeights(notices);
    StartUp.broadcast(
        settings.initialWeights() == null ? collective : Preparation.patient(collective), model);
  }

  private void loadInitialWeights(Consumer<String> notices) {
    var weights = settings.initialWeights();
    if (weights != null && collective.rank() == 0) {
      var link = JobLink.ofThisProcess();
      link.preparing("loading weights");
      weights.copyInto(model, settings.model().aliases(), notices);
      link.preparing("");
    }
  }

  Collective collective() {
    return collective;
  }

  BoundModel model() {
    return model;
  }

  /** Returns what the run is, by key; all ranks have agreed on it. */
  SortedMap<String, String> facts() {
    return facts;
  }
}
