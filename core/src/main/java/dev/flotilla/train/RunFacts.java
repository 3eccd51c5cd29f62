package dev.flotilla.train;

import dev.flotilla.arena.Layout;
import dev.flotilla.collective.Agreement;
import dev.flotilla.collective.Collective;
import dev.flotilla.metric.Metric;
import dev.flotilla.optim.Groups;
import dev.flotilla.settings.SharedFacts;
import dev.flotilla.world.Platform;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What a run is, by dotted key: ranks must agree on it, and checkpoints state it.
 *
 * @param settings the run as it was built
 * @param layout of its parameters
 */
record RunFacts(TrainerSettings settings, Layout layout) {

  /** Sums differ in their last bits between platforms, so one job keeps to one of them. */
  static final String PLATFORM = "platform";

  static final String LAYOUT = "parameters.layout";

  /**
   * Returns what checkpoints state, once all ranks mean the same: those that disagree in sizes
   * would abort in their first collective.
   *
   * @throws dev.flotilla.collective.AgreementException if they do not
   */
  SortedMap<String, String> agreedOn(Collective collective) {
    var stated = new TreeMap<String, String>(settings.facts());
    stated.put(PLATFORM, Platform.here().toString());
    stated.put(LAYOUT, layout.hash());
    var all = new TreeMap<>(stated);
    parts().forEach((key, part) -> all.putAll(SharedFacts.of(key, part)));
    // Ranks that have different ones would wait for each other for ever.
    all.put("callbacks", Integer.toString(settings.callbacks().size()));
    all.put("metrics", settings.metrics().stream().map(Metric::name).toList().toString());
    Agreement.check(collective, all, settings.collectiveSettings().timeout());
    parts().forEach((key, part) -> addUnlessStated(key, part, stated));
    return stated;
  }

  private Map<String, Object> parts() {
    var parts = new TreeMap<String, Object>();
    parts.put("optimizer", settings.optimizer());
    parts.put("schedule", settings.schedule());
    if (!settings.groups().equals(Groups.none())) {
      parts.put("groups", settings.groups());
    }
    settings.strategies().forEach(it -> parts.put("strategy." + it.key(), it));
    return parts;
  }

  /**
   * A recipe states a part by its own names: saying it again by Java's would be a second change.
   */
  private void addUnlessStated(String key, Object part, Map<String, String> stated) {
    var alone = key.replaceFirst("^strategy[.]", "");
    boolean isStated =
        settings.facts().keySet().stream().anyMatch(it -> isOf(it, key) || isOf(it, alone));
    if (!isStated) {
      stated.putAll(SharedFacts.of(key, part));
    }
  }

  private static boolean isOf(String key, String part) {
    return key.equals(part) || key.startsWith(part + ".");
  }
}
