package dev.flotilla.bench;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.NativeMemory;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Activations;
import dev.flotilla.model.LossTerms;
import dev.flotilla.model.Model;
import dev.flotilla.model.Objective;
import dev.flotilla.model.Score;
import dev.flotilla.model.Segment;
import dev.flotilla.optim.Sgd;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.precision.MixedPrecision;
import dev.flotilla.strategy.recompute.Recompute;
import dev.flotilla.train.Trainer;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.SyntheticTokens;
import dev.flotilla.zoo.data.TextTask;
import dev.flotilla.zoo.model.BertTiny;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * CPU time and kept activations of recompute and mixed precision against a plain step, on an
 * encoder of 6 layers of 512, 8 sequences of 128 tokens, in interleaved rounds.
 */
public final class RecomputeCost {

  private static final int BATCH = 8;
  private static final int LENGTH = 128;
  private static final int VOCABULARY = 1000;
  private static final double DROPOUT = Double.parseDouble(System.getProperty("dropout", "0.1"));

  private static String wanted = "";

  private RecomputeCost() {}

  /** A model that looks at the memory when forward has ended. */
  private static final class Watched implements Model, Objective {

    private final Model model =
        new BertTiny(null, 20, VOCABULARY, 512, 6, 8, 2048, LENGTH, DROPOUT, DROPOUT);
    private long before;
    private long kept;

    @Override
    public String name() {
      return model.name();
    }

    @Override
    public List<Segment> segments() {
      return model.segments();
    }

    @Override
    public Objective objective() {
      return this;
    }

    @Override
    public LossTerms loss(Activations outputs, Batch batch) {
      kept = NativeMemory.liveBytes() - before;
      return model.objective().loss(outputs, batch);
    }

    @Override
    public Score score(Activations outputs, Batch batch) {
      return model.objective().score(outputs, batch);
    }
  }

  /** A trainer of such a model. */
  private static final class Subject implements AutoCloseable {

    private final Watched model = new Watched();
    private final Trainer trainer;
    private final Batch batch;

    Subject(Batch batch, Strategy... techniques) {
      this.batch = batch;
      trainer =
          Trainer.on(World.solo())
              .model(model)
              .optimizer(new Sgd(0.01))
              .strategy(techniques)
              .threads(1)
              .events(
                  event -> {
                    if (event instanceof TrainingEvent.Measured(var text)) {
                      System.out.println(text.lines().findFirst().orElse(""));
                    }
                  })
              .build();
    }

    void step() {
      model.before = NativeMemory.liveBytes();
      trainer.step(batch);
    }

    long kept() {
      return model.kept;
    }

    @Override
    public void close() {
      trainer.close();
    }
  }

  /** Prints a row for each variant, or for those whose name starts with the second argument. */
  public static void main(String[] args) {
    int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 9;
    wanted = args.length > 1 ? args[1] : "";
    try (var _ = TensorScope.open()) {
      var data = new SyntheticTokens(VOCABULARY, LENGTH, 64, 8, TextTask.PRETRAINING, 2).train();
      Batch batch = data.load(IntStream.range(0, BATCH).toArray());
      try (var plain = new Subject(batch)) {
        for (int i = 0; i < 3; i++) {
          plain.step();
        }
        long all = plain.kept();
        System.out.printf(Locale.ROOT, "plain keeps %.1f MB%n", all / 1e6);
        var half = new MixedPrecision(Dtype.BF16);
        var layers =
            new Recompute("layer.0", "layer.1", "layer.2", "layer.3", "layer.4", "layer.5");
        compare("every layer", plain, batch, rounds, layers);
        compare("auto, half", plain, batch, rounds, Recompute.auto(all / 2));
        compare("auto, a fifth", plain, batch, rounds, Recompute.auto(all / 5));
        compare("bf16", plain, batch, rounds, half);
        compare("bf16, every layer", plain, batch, rounds, half, layers);
      }
    }
  }

  private static void compare(
      String name, Subject plain, Batch batch, int rounds, Strategy... techniques) {
    if (!name.startsWith(wanted)) {
      return;
    }
    try (var other = new Subject(batch, techniques)) {
      Pairs.compare(other::step, plain::step, 2, 2);
      var result = Pairs.compare(other::step, plain::step, rounds, 2);
      System.out.printf(
          Locale.ROOT,
          "%-20s time %s, kept %.3f%n",
          name,
          result,
          (double) other.kept() / plain.kept());
    }
  }
}
