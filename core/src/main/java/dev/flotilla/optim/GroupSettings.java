package dev.flotilla.optim;

import dev.flotilla.settings.Check;
import dev.flotilla.settings.NamePatterns;
import dev.flotilla.settings.Setting;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Parameters with settings of their own; what a group does not state is the optimizer's.
 *
 * @param match names of its parameters; {@code *} stands for any characters
 * @param lr learning rate before the schedule, or null
 * @param weightDecay decay per update, of biases and norms too, or null
 * @param betas decay rates of moments, or null
 */
public record GroupSettings(
    @Setting(doc = "Names of the group's parameters; * stands for anything.") List<String> match,
    @Setting(
            doc = "Learning rate before the schedule, > 0; by default the optimizer's.",
            def = "null")
        @Nullable Double lr,
    @Setting(
            doc = "Decay per update, >= 0, of biases and norms too; by default the optimizer's.",
            def = "null")
        @Nullable Double weightDecay,
    @Setting(
            doc = "Decay rates of the moments, each in [0, 1); by default the optimizer's.",
            def = "null")
        @Nullable List<Double> betas) {

  /** Checks the settings. */
  public GroupSettings {
    match = List.copyOf(match);
    betas = betas == null ? null : List.copyOf(betas);
    boolean isNamed = !match.isEmpty() && match.stream().noneMatch(String::isBlank);
    boolean saysSomething = lr != null || weightDecay != null || betas != null;
    var check =
        Check.that(isNamed, "match", "must hold at least one name, and no empty one", match)
            .and(lr == null || lr > 0, "lr", "must be greater than 0", String.valueOf(lr))
            .and(
                weightDecay == null || weightDecay >= 0,
                "weight_decay",
                "must be at least 0",
                String.valueOf(weightDecay))
            .and(
                saysSomething,
                "",
                "must state lr, weight_decay or betas, as what it does not state is the"
                    + " optimizer's",
                "nothing but match");
    (betas == null ? check : Rules.checkBetas(check, betas)).orThrow();
  }

  /** Returns a group with nothing of its own but a learning rate. */
  public static GroupSettings ofLr(double lr, String... match) {
    return new GroupSettings(List.of(match), lr, null, null);
  }

  /** Returns a group with nothing of its own but a weight decay. */
  public static GroupSettings ofWeightDecay(double weightDecay, String... match) {
    return new GroupSettings(List.of(match), null, weightDecay, null);
  }

  /** Tells whether it differs in more than the decay, which every optimizer knows of. */
  boolean hasRates() {
    return lr != null || betas != null;
  }

  boolean matches(String name) {
    return NamePatterns.anyOf(match).test(name);
  }
}
