package dev.flotilla.bench;

import dev.flotilla.data.Batch;
import dev.flotilla.data.Dataset;
import dev.flotilla.memory.DeviceChoice;
import dev.flotilla.memory.DeviceMemory;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Activations;
import dev.flotilla.model.LossTerms;
import dev.flotilla.model.Model;
import dev.flotilla.model.Objective;
import dev.flotilla.model.Score;
import dev.flotilla.model.Segment;
import dev.flotilla.optim.AdamW;
import dev.flotilla.optim.Cosine;
import dev.flotilla.optim.Momentum;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.pass.ModelException;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.clip.ClipByNorm;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.precision.MixedPrecision;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.train.CheckpointSettings;
import dev.flotilla.train.NonFinite;
import dev.flotilla.train.Trainer;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.SyntheticImages;
import dev.flotilla.zoo.data.SyntheticTokens;
import dev.flotilla.zoo.data.TextTask;
import dev.flotilla.zoo.model.BertTiny;
import dev.flotilla.zoo.model.LeNet5;
import dev.flotilla.zoo.model.Mlp;
import dev.flotilla.zoo.model.ResNet18;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Passes that are recorded and repeated do what passes do that are not: with other batches, other
 * learning rates, batches of another size, updates that are left out, evaluations in between, and
 * through a checkpoint.
 */
record RecordedCheck(DeviceChoice device, Verdicts verdicts) {

  private static final String SWITCH = "flotilla.graphs";
  private static final int STEPS = 40;
  private static final int BATCH = 16;
  private static final List<Integer> POISONED = List.of(7, 8, 21);
  private static final int EVALUATED = 20;

  /** A model whose objective counts what is in targets, and does not say so. */
  private record Claim(Model model) implements Model {

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
      return new Silent(model.objective());
    }

    @Override
    public boolean isRecordable() {
      return true;
    }
  }

  /** Counts in silence. */
  private record Silent(Objective inner) implements Objective {

    @Override
    public LossTerms loss(Activations outputs, Batch batch) {
      return inner.loss(outputs, batch);
    }

    @Override
    public Score score(Activations outputs, Batch batch) {
      return inner.score(outputs, batch);
    }
  }

  /** What a training comes to. */
  private record Seen(
      Snapshot values, long updates, List<Double> losses, List<String> notes, String recorded) {}

  void hasTheSameBits() {
    var images = new SyntheticImages(1, 32, 10, 64, 8).train();
    expectSame("lenet5", new LeNet5(10), images, new Momentum(0.01, 0.9), true);
    var merge = new GradientMerge(2);
    expectSame("lenet5, merged", new LeNet5(10), images, new AdamW(0.001), true, merge);
    var clip = new ClipByNorm(0.5);
    expectSame("lenet5, clipped", new LeNet5(10), images, new Momentum(0.01, 0.9), true, clip);
    var colours = new SyntheticImages(3, 32, 10, 64, 8).train();
    expectSame("resnet18", ResNet18.forCifar(10), colours, new Momentum(0.01, 0.9), true);
    var dropping = new Mlp(1024, List.of(32), 10, 0.2);
    expectSame("mlp with dropout", dropping, images, new AdamW(0.001), true);
    texts();
  }

  /** Random numbers of libtorch's kernels and of our own, and losses that are counted. */
  private void texts() {
    var texts = new SyntheticTokens(1000, 64, 64, 8, TextTask.CLASSIFICATION, 2).train();
    var masked = new SyntheticTokens(1000, 64, 64, 8, TextTask.PRETRAINING, 2).train();
    var half = new MixedPrecision(Dtype.BF16);
    expectSame("bert-tiny", bert(2, 0), texts, new AdamW(1e-3), true);
    expectSame("bert-tiny with dropout", bert(2, 0.1), texts, new AdamW(1e-3), true);
    expectSame("bert-tiny, bf16", bert(2, 0.1), texts, new AdamW(1e-3), true, half);
    expectSame("bert-tiny, masked", bert(null, 0.1), masked, new AdamW(1e-3), true);
    expectSame("bert-tiny, masked, bf16", bert(null, 0.1), masked, new AdamW(1e-3), true, half);
    var merge = new GradientMerge(2);
    expectSame("bert-tiny, merged", bert(null, 0.1), masked, new AdamW(1e-3), true, half, merge);
    var silent = new Claim(bert(null, 0));
    expectSame("bert-tiny, counting in silence", silent, masked, new AdamW(1e-3), false);
    var other = new MixedPrecision(Dtype.FP16);
    expectSame("bert-tiny, fp16", bert(2, 0.1), texts, new AdamW(1e-3), false, other);
  }

  private static Model bert(@Nullable Integer classes, double dropout) {
    return new BertTiny(classes, 20, 1000, 64, 2, 2, 128, 64, dropout, dropout);
  }

  private void expectSame(
      String name,
      Model model,
      Dataset data,
      Optimizer rule,
      boolean isRecordable,
      Strategy... with) {
    var recorded = train(true, model, data, rule, with);
    var plain = train(false, model, data, rule, with);
    boolean isRecorded = !recorded.recorded().startsWith("none");
    verdicts.expect(
        name + (isRecordable ? ": is recorded" : ": is not recorded"),
        isRecorded == isRecordable && plain.recorded().startsWith("none"),
        recorded.recorded());
    verdicts.expect(
        name + ": the same bits as unrecorded", recorded.values().isSameAs(plain.values()), "");
    verdicts.expect(
        name + ": the same updates, losses and notices",
        recorded.updates() == plain.updates()
            && recorded.losses().equals(plain.losses())
            && recorded.notes().equals(plain.notes()),
        recorded.updates() + ", " + plain.updates() + "; " + recorded.notes());
  }

  private Seen train(
      boolean isRecorded, Model model, Dataset data, Optimizer rule, Strategy... with) {
    System.setProperty(SWITCH, isRecorded ? "on" : "off");
    List<String> notes = new ArrayList<>();
    List<Double> losses = new ArrayList<>();
    try (var trainer = trainer(model, rule, notes, null, with)) {
      trainer.plannedUpdates(STEPS);
      for (int i = 0; i < STEPS; i++) {
        try (var _ = TensorScope.open()) {
          var outcome = trainer.step(batch(data, i, POISONED.contains(i)));
          if (i % 3 == 0) {
            losses.add(outcome.totals().lossSum());
          }
          if (i == EVALUATED) {
            losses.add(trainer.evaluate(data).loss());
          }
        }
      }
      return new Seen(
          Snapshot.of(trainer),
          trainer.updates(),
          losses,
          notes,
          String.valueOf(trainer.metrics().get("recorded")));
    } finally {
      System.clearProperty(SWITCH);
    }
  }

  private Trainer trainer(
      Model model, Optimizer rule, List<String> notes, @Nullable Path folder, Strategy... with) {
    var builder =
        Trainer.on(World.solo())
            .model(model)
            .optimizer(rule)
            .schedule(new Cosine())
            .strategy(with)
            .device(device)
            .nonFinite(NonFinite.SKIP)
            .threads(1)
            .events(
                event -> {
                  if (event instanceof TrainingEvent.Noted(var text)) {
                    notes.add(text);
                  } else if (event instanceof TrainingEvent.Updated it) {
                    notes.add(it.update() + ": " + it.loss() + " " + it.lr() + " " + it.acc1());
                  }
                });
    return (folder == null ? builder : builder.checkpoints(CheckpointSettings.in(folder))).build();
  }

  /** Each seventh batch is half as large. */
  private static Batch batch(Dataset data, int number, boolean isPoisoned) {
    int size = number % 7 == 6 ? BATCH / 2 : BATCH;
    var batch =
        data.load(IntStream.range(0, size).map(i -> (number * 5 + i) % data.size()).toArray());
    var input = batch.inputs().getFirst();
    if (isPoisoned && input.is_floating_point()) {
      NativeView.of(input).setAtIndex(ValueLayout.JAVA_FLOAT, 0, Float.NaN);
    }
    return batch;
  }

  /** A run that is saved and resumed, before and after its passes are recorded. */
  void resumes() {
    var data = new SyntheticImages(1, 32, 10, 64, 8).train();
    var whole = train(false, new LeNet5(10), data, new Momentum(0.01, 0.9));
    for (int middle : new int[] {2, 19}) {
      try {
        var folder = Files.createTempDirectory("flotilla-recorded-check");
        run(data, folder, 0, middle);
        var resumed = run(data, folder, middle, STEPS);
        verdicts.expect(
            "recorded, resumed after " + middle + ": the same bits",
            resumed.isSameAs(whole.values()),
            "");
      } catch (IOException failure) {
        throw new UncheckedIOException(failure);
      }
    }
  }

  private Snapshot run(Dataset data, Path folder, int from, int until) {
    try (var trainer =
        trainer(new LeNet5(10), new Momentum(0.01, 0.9), new ArrayList<>(), folder)) {
      trainer.plannedUpdates(STEPS);
      if (from > 0) {
        trainer.resume(folder);
      }
      steps(trainer, data, from, until);
      trainer.save();
      trainer.awaitSave();
      return Snapshot.of(trainer);
    }
  }

  private static void steps(Trainer trainer, Dataset data, int from, int until) {
    for (int i = from; i < until; i++) {
      try (var _ = TensorScope.open()) {
        trainer.step(batch(data, i, POISONED.contains(i)));
      }
    }
  }

  /** A class that there is none of is named, before the device sees it, and training goes on. */
  void refusesClasses() {
    var data = new SyntheticImages(1, 32, 10, 64, 8).train();
    for (boolean isRecorded : new boolean[] {true, false}) {
      System.setProperty(SWITCH, isRecorded ? "on" : "off");
      String message = "nothing";
      try (var trainer = trainer(new LeNet5(10), new Momentum(0.01, 0.9), new ArrayList<>(), null);
          var _ = TensorScope.open()) {
        trainer.plannedUpdates(STEPS);
        steps(trainer, data, 0, EVALUATED);
        var wrong = batch(data, EVALUATED + 1, false);
        NativeView.of(wrong.targets()).setAtIndex(ValueLayout.JAVA_LONG, 3, 10);
        try {
          trainer.step(wrong);
        } catch (ModelException refused) {
          message = String.valueOf(refused.getMessage());
          trainer.abandonStep();
        }
        steps(trainer, data, EVALUATED, STEPS);
        verdicts.expect(
            "a wrong class, " + (isRecorded ? "recorded" : "unrecorded"),
            message.contains("target 10 of sample 3 is none of the 10 classes")
                && trainer.updates() == STEPS - POISONED.size()
                && trainer.evaluate(data).loss() < 10,
            message + "; " + trainer.updates() + " updates");
      } finally {
        System.clearProperty(SWITCH);
      }
    }
  }

  /** A trainer that is closed leaves nothing on the device. */
  void isFreed() {
    var data = new SyntheticImages(1, 32, 10, 64, 8).train();
    long[] live = new long[3];
    for (int i = 0; i < live.length; i++) {
      try (var trainer =
          trainer(new LeNet5(10), new Momentum(0.01, 0.9), new ArrayList<>(), null)) {
        trainer.plannedUpdates(STEPS);
        steps(trainer, data, 0, STEPS);
        trainer.model().device().synchronize();
        live[i] = new DeviceMemory(trainer.model().device()).liveBytes();
      }
    }
    // The first one pays for what libraries keep for the stream that is recorded.
    verdicts.expect(
        "recorded: a third trainer takes what the second took",
        live[1] == live[2],
        live[1] + ", " + live[2]);
  }
}
