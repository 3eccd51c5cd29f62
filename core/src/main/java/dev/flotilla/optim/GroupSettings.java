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
 * @param frozenEpochs epochs at the start in which its parameters stay as they are
 */
public record GroupSettings(
    @Setting(doc = "Names of the group's parameters; * stands for anything.") List<String> match,
    @Setting(
            doc = "Learning rate before the schedule, > 0; by default the optimizer's.",
            def = "null")
        @Nullable Double lr,
    @Setting(
            doc =
                "Weight decay, >= 0, for the group's biases and norms too; by default the"
                    + " optimizer's.",
            def = "null")
        @Nullable Double weightDecay,
    @Setting(
            doc = "Decay rates of the moments, each in [0, 1); by default the optimizer's.",
            def = "null")
        @Nullable List<Double> betas,
    @Setting(doc = "Epochs at the start in which the group stays as it is, >= 0.", def = "0")
        int frozenEpochs) {

  /** Checks the settings. */
  public GroupSettings {
    match = List.copyOf(match);
    betas = betas == null ? null : List.copyOf(betas);
    boolean isNamed = !match.isEmpty() && match.stream().noneMatch(String::isBlank);
    boolean saysSomething = lr != null || weightDecay != null || betas != null || frozenEpochs > 0;
    var check =
        Check.that(isNamed, "match", "must hold at least one name, and no empty one", match)
            .and(lr == null || lr > 0, "lr", "must be greater than 0", String.valueOf(lr))
            .and(
                weightDecay == null || weightDecay >= 0,
                "weight_decay",
                "must be at least 0",
                String.valueOf(weightDecay))
            .and(frozenEpochs >= 0, "frozen_epochs", "must be at least 0", frozenEpochs)
            .and(
                saysSomething,
                "",
                "must state lr, weight_decay, betas or frozen_epochs: the rest is the optimizer's",
                "nothing but match");
    (betas == null ? check : Rules.checkBetas(check, betas)).orThrow();
  }

  /** Returns a group that is not frozen. */
  public GroupSettings(
      List<String> match,
      @Nullable Double lr,
      @Nullable Double weightDecay,
      @Nullable List<Double> betas) {
    this(match, lr, weightDecay, betas, 0);
  }

  /** Returns a group that stays as it is for the first epochs. */
  public static GroupSettings frozenFor(int epochs, String... match) {
    return new GroupSettings(List.of(match), null, null, null, epochs);
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
    return lr != null || betas != null || frozenEpochs > 0;
  }

  boolean matches(String name) {
    return NamePatterns.anyOf(match).test(name);
  }
}
