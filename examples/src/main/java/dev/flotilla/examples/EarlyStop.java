package dev.flotilla.examples;

import dev.flotilla.metric.F1Score;
import dev.flotilla.metric.Metric;
import dev.flotilla.model.Answers;
import dev.flotilla.optim.Momentum;
import dev.flotilla.train.Every;
import dev.flotilla.train.FitResult;
import dev.flotilla.train.LoopSettings;
import dev.flotilla.train.StopWhen;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.Digits;
import dev.flotilla.zoo.model.LeNet5;
import org.bytedeco.pytorch.LongOptional;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;

/** The baseline with F1 and a metric of its own, until F1 gets no better. */
public final class EarlyStop {

  private EarlyStop() {}

  /** Prints how many updates were made, and what the last evaluation gave. */
  public static void main(String[] args) {
    var result = run(50, StopWhen.noBetter("f1").patience(3));
    System.out.println(
        result.updates() + " updates, " + result.evaluation().orElseThrow().values());
  }

  static FitResult run(int updatesPerEvaluation, StopWhen stopWhen) {
    var digits = new Digits();
    try (var trainer =
        Trainer.on(World.join())
            .model(new LeNet5(10))
            .optimizer(new Momentum(0.05, 0.9))
            .metrics(new F1Score(), Metric.mean("off_by_one", EarlyStop::areClose))
            .stopWhen(stopWhen)
            .loop(
                LoopSettings.defaults()
                    .evaluateOn(digits.test())
                    .each(Every.updates(updatesPerEvaluation)))
            .build()) {
      return trainer.fit(digits.train().batches(64).shuffled(42), 20);
    }
  }

  private static Tensor areClose(Answers answers) {
    var guesses = answers.outputs().argmax(new LongOptional(1), false);
    return guesses.sub(answers.targets()).abs().le(new Scalar(1));
  }
}
