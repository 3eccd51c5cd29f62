package dev.flotilla.train;

import dev.flotilla.checkpoint.SavedCheckpoint;
import dev.flotilla.settings.ConfigException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * What a run that goes on has changed since its checkpoint was saved, each key once.
 *
 * @param checkpoint where it goes on
 * @param now what the run is, by key
 */
record FactChanges(SavedCheckpoint checkpoint, Map<String, String> now) {

  /** Sections that decide which tensors a checkpoint holds; anything else may change freely. */
  private static final Set<String> SHAPING =
      Set.of("model", "precision", "freeze", "exchange", "batch_norm", "ema", "strategy");

  /** Neither is a setting: the one is compared by itself, the other says that there is none. */
  private static final Set<String> LEFT_OUT = Set.of(RunFacts.LAYOUT, "strategy");

  private static final String ABSENT = "not set";

  /** Returns a clause for each key, in their order. */
  List<String> all() {
    return keys().stream().map(this::clause).toList();
  }

  private Set<String> keys() {
    var keys = new TreeSet<>(now.keySet());
    // Earlier versions, which named no run, stated some keys twice, and no platform.
    if (checkpoint.run().isPresent()) {
      keys.addAll(checkpoint.facts().keySet());
    } else if (!checkpoint.facts().containsKey(RunFacts.PLATFORM)) {
      keys.remove(RunFacts.PLATFORM);
    }
    keys.removeAll(LEFT_OUT);
    return keys.stream()
        .map(this::technique)
        .filter(key -> !then(key).equals(text(key, now)))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Of a technique that only one side has, the name says enough. */
  private String technique(String key) {
    var name = key.replaceFirst("^(strategy[.][^.]+)[.].*", "$1");
    boolean isOnBothSides =
        !text(name, now).equals(ABSENT) && !text(name, checkpoint.facts()).equals(ABSENT);
    return isOnBothSides ? key : name;
  }

  private String then(String key) {
    return text(key, checkpoint.facts());
  }

  private static String text(String key, Map<String, String> facts) {
    var value = facts.get(key);
    boolean isSection = facts.keySet().stream().anyMatch(it -> it.startsWith(key + "."));
    return value == null || value.equals("{}")
        ? value != null || isSection ? "set" : ABSENT
        : value;
  }

  private String clause(String key) {
    return "%s was %s when the checkpoint was saved and is %s now"
        .formatted(key, then(key), text(key, now));
  }

  private static boolean isShaping(String key) {
    return key.matches("optimizer([.]name)?") || SHAPING.contains(key.replaceFirst("[.].*", ""));
  }

  /** Tells whether the parameters are others. */
  boolean isOtherLayout() {
    var saved = checkpoint.facts().get(RunFacts.LAYOUT);
    return saved != null && !saved.equals(now.get(RunFacts.LAYOUT));
  }

  /**
   * Refuses to go on.
   *
   * @param otherwise what is wrong, if no setting has changed that explains it
   */
  ConfigException refusal(String otherwise) {
    var reasons =
        keys().stream()
            .filter(FactChanges::isShaping)
            .map(this::clause)
            .collect(Collectors.joining("; "));
    return new ConfigException(
        "resume",
        ("%s does not fit this run: %s. A run goes on with the model, precision, frozen parameters,"
             + " optimizer and techniques that it was saved with; their numbers, the schedule, the"
             + " data and the number of ranks may change")
            .formatted(checkpoint.folder(), reasons.isEmpty() ? otherwise : reasons));
  }
}
