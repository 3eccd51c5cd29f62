package dev.flotilla.optim;

import dev.flotilla.settings.Check;
import dev.flotilla.settings.NamePatterns;
import dev.flotilla.settings.Problem;
import dev.flotilla.settings.Setting;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Which parameters have settings of their own.
 *
 * @param groups by name patterns
 * @param layerDecay factor on the learning rate from each segment to the one before it, for
 *     parameters whose group states no rate; 1 for none
 */
public record Groups(
    @Setting(doc = "Parameters with settings of their own.") List<GroupSettings> groups,
    @Setting(doc = "Factor on the learning rate from each segment to the one before it.")
        double layerDecay) {

  private static final int SHOWN = 12;

  /** Checks the decay and copies the list. */
  public Groups {
    groups = List.copyOf(groups);
    Check.that(layerDecay > 0 && layerDecay <= 1, "layer_decay", "must be in (0, 1]", layerDecay)
        .orThrow();
  }

  /** Treats all parameters as the optimizer says. */
  public static Groups none() {
    return new Groups(List.of(), 1);
  }

  /** Tells whether parameters differ in more than their decay. */
  public boolean haveRates() {
    return layerDecay != 1 || groups.stream().anyMatch(GroupSettings::hasRates);
  }

  /** Returns the group of a parameter. */
  public Optional<GroupSettings> of(String name) {
    return groups.stream().filter(group -> group.matches(name)).findFirst();
  }

  /**
   * Returns everything that is wrong with the groups.
   *
   * @param names of the parameters that are trained
   */
  public List<Problem> problems(Optimizer optimizer, List<String> names) {
    List<Problem> problems = new ArrayList<>();
    var rule = optimizer.getClass().getSimpleName();
    if (haveRates() && !optimizer.takesGroupRates()) {
      problems.add(
          problem(
              groups.stream().anyMatch(GroupSettings::hasRates) ? "groups" : "layer_decay",
              rule + " has one learning rate for all parameters, and freezes none",
              "state weight_decay alone, or take one of Flotilla's own optimizers"));
    }
    for (int i = 0; i < groups.size(); i++) {
      var key = "groups[" + i + "]";
      if (groups.get(i).betas() != null && !optimizer.hasBetas()) {
        problems.add(problem(key + ".betas", rule + " has no betas", "remove them"));
      }
      for (var pattern : NamePatterns.unmatched(groups.get(i).match(), names)) {
        problems.add(
            problem(
                key + ".match",
                "'%s' matches none of the trained parameters %s".formatted(pattern, shown(names)),
                ""));
      }
      addOverlap(i, names, problems);
    }
    return problems;
  }

  /** A parameter in two groups would have the settings of the one that happens to come first. */
  private void addOverlap(int index, List<String> names, List<Problem> problems) {
    for (int before = 0; before < index; before++) {
      var other = groups.get(before);
      var both = names.stream().filter(groups.get(index)::matches).filter(other::matches).toList();
      if (!both.isEmpty()) {
        problems.add(
            problem(
                "groups[%d].match".formatted(index),
                "%s and %s of groups[%d] both match %s"
                    .formatted(groups.get(index).match(), other.match(), before, shown(both)),
                "a parameter belongs to one group: make one of the patterns narrower"));
      }
    }
  }

  private static Problem problem(String key, String message, String fix) {
    return new Problem("", key, message, fix);
  }

  private static String shown(List<String> names) {
    return names.size() <= SHOWN ? names.toString() : names.subList(0, SHOWN) + " …";
  }
}
