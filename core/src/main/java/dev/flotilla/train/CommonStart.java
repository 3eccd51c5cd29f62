package dev.flotilla.train;

import dev.flotilla.arena.Layout;
import dev.flotilla.arena.ParameterShare;
import dev.flotilla.arena.Section;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Collectives;
import dev.flotilla.control.JobLink;
import dev.flotilla.memory.NativeLibraries;
import dev.flotilla.memory.OneDnnSwitch;
import dev.flotilla.pass.BoundModel;
import dev.flotilla.pass.StartUp;
import dev.flotilla.world.RankEnvironment;
import java.util.HashSet;
import java.util.Set;
import java.util.SortedMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Brings ranks together: one group, the same settings, and the same model on all of them. */
final class CommonStart {

  private final TrainerSettings settings;
  private final SortedMap<String, String> facts;
  private final Collective collective;
  private final Collective peers;
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
    OneDnnSwitch _ = resources.own(new OneDnnSwitch());
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
    var layout = BoundModel.layoutOf(settings.model(), settings.precision(), settings.frozen());
    facts = new RunFacts(settings, layout).agreedOn(collective);
    peers = peers(notices);
    model =
        resources.own(
            new BoundModel(
                settings.model(),
                settings.precision(),
                device,
                settings.seed(),
                settings.stays(),
                share(layout)));
    fill(notices);
  }

  private Collective peers(Consumer<String> notices) {
    return settings.strategies().stream()
        .flatMap(it -> it.peers(collective, settings.world().nodeRank(), notices).stream())
        .findFirst()
        .orElse(collective);
  }

  private @Nullable ParameterShare share(Layout layout) {
    return settings.strategies().stream()
        .flatMap(it -> it.share(settings.model(), layout, peers).stream())
        .findFirst()
        .orElse(null);
  }

  /** Gives all ranks the parameters of rank 0, which may load them. */
  private void fill(Consumer<String> notices) {
    var weights = collective.rank() == 0 ? settings.initialWeights() : null;
    var group = settings.initialWeights() == null ? collective : Preparation.patient(collective);
    var link = JobLink.ofThisProcess();
    link.preparing(weights == null ? "" : "loading weights");
    try (var loading =
        weights == null ? null : weights.open(model, settings.model().aliases(), notices)) {
      model.fill(
          section -> {
            if (loading != null) {
              loading.copy(namesIn(section));
            }
            StartUp.broadcast(group, section);
          });
      if (loading != null) {
        loading.copy(namesOfOthers());
      }
    }
    link.preparing("");
    StartUp.broadcastOthers(group, model);
  }

  private Set<String> namesIn(Section section) {
    return model.arena().layout().in(section.range()).stream()
        .map(slot -> slot.spec().name())
        .collect(Collectors.toSet());
  }

  private Set<String> namesOfOthers() {
    var names = new HashSet<>(model.state().keySet());
    names.removeAll(model.arena().parameters().keySet());
    return names;
  }

  Collective collective() {
    return collective;
  }

  /** Returns the ranks that exchange gradients with this one. */
  Collective peers() {
    return peers;
  }

  BoundModel model() {
    return model;
  }

  /** Returns what the run is, by key; all ranks have agreed on it. */
  SortedMap<String, String> facts() {
    return facts;
  }
}
