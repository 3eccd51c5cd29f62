package dev.flotilla.examples;

import dev.flotilla.metric.Metric;
import dev.flotilla.optim.Momentum;
import dev.flotilla.train.Callback;
import dev.flotilla.train.StopWhen;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.Digits;
import dev.flotilla.zoo.model.Mlp;
import java.util.List;

/** Learns more and more slowly until accuracy gets no better, and says how sure the model is. */
public final class EarlyStop {
  public static void main(String[] args) {
    try (var trainer =
        Trainer.on(World.join())
            .model(new Mlp(1024, List.of(32), 10))
            .optimizer(new Momentum(0.05, 0.9))
            .loop(it -> it.evaluateOn(new Digits().test()))
            .metrics(Metric.mean("sure", it -> it.outputs().softmax(1).max(1).get0()))
            .stopWhen(StopWhen.noBetter("accuracy").patience(2))
            .callbacks(Callback.eachEvaluation((loop, _) -> loop.scaleLearningRate(0.5)))
            .build()) {
      var result = trainer.fit(new Digits().train().batches(64).shuffled(42), 20);
      System.out.println(result.updates() + " updates: " + result.evaluation().get().values());
    }
  }
}
