package dev.flotilla.train;

import dev.flotilla.collective.Agreement;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Collectives;
import dev.flotilla.control.JobLink;
import dev.flotilla.engine.BoundModel;
import dev.flotilla.engine.StartUp;
import dev.flotilla.memory.NativeLibraries;
import dev.flotilla.settings.SharedFacts;
import dev.flotilla.world.Platform;
import dev.flotilla.world.RankEnvironment;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;

/** Brings ranks together: one group, the same settings, and the same model on all of them. */
final class CommonStart {

  /** Sums differ in their last bits between platforms, so one job keeps to one of them. */
  static final String PLATFORM_FACT = "platform";

  static final String LAYOUT_FACT = "parameters.layout";

  private final TrainerBuilder settings;
  private final SortedMap<String, String> facts = new TreeMap<>();
  private final Collective collective;
  private final BoundModel model;

  /**
   * Joins, allocates, agrees and loads; all ranks come here together.
   *
   * @param resources owns what is opened, also if a later step fails
   * @param notices takes one-line messages for the user
   */
  CommonStart(TrainerBuilder settings, Resources resources, Consumer<String> notices) {
    this.settings = settings;
    var threads = settings.cpuThreads();
    threads.prepare();
    NativeLibraries.load();
    threads.apply();
    if (threads.isTooMany() && settings.world.localRank() == 0) {
      notices.accept(threads.warning());
    }
    var device =
        settings.device.resolve(
            settings.world.localRank(),
            settings.world.localSize(),
            RankEnvironment.gpus(System.getenv()),
            notices);
    device.computeExactly();
    var joined = Collectives.join(settings.world, settings.collectiveSettings, device);
    collective = settings.wrapper.apply(resources.own(joined));
    model =
        resources.own(
            new BoundModel(
                settings.requiredModel(),
                settings.precision,
                device,
                settings.seed,
                settings.frozen));
    agree();
    loadInitialWeights(notices);
    StartUp.broadcast(
        settings.initialWeights == null ? collective : Preparation.patient(collective), model);
  }

  /** Ranks that disagree in sizes would abort in their first collective. */
  private void agree() {
    facts.putAll(settings.facts);
    facts.put(PLATFORM_FACT, Platform.here().toString());
    facts.put(LAYOUT_FACT, model.arena().layout().hash());
    facts.putAll(SharedFacts.of("optimizer", settings.requiredOptimizer()));
    facts.putAll(SharedFacts.of("schedule", settings.schedule));
    for (var technique : settings.strategies) {
      facts.putAll(SharedFacts.of("strategy." + technique.key(), technique));
    }
    Agreement.check(collective, facts, settings.collectiveSettings.timeout());
  }

  private void loadInitialWeights(Consumer<String> notices) {
    var weights = settings.initialWeights;
    if (weights != null && collective.rank() == 0) {
      var link = JobLink.ofThisProcess();
      link.preparing("loading weights");
      weights.copyInto(model, settings.requiredModel().aliases(), notices);
      link.preparing("");
    }
  }

  Collective collective() {
    return collective;
  }

  BoundModel model() {
    return model;
  }

  /** Returns what all ranks have agreed on. */
  SortedMap<String, String> facts() {
    return facts;
  }
}
