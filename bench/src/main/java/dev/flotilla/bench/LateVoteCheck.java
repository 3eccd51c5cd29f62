package dev.flotilla.bench;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.DeviceChoice;
import dev.flotilla.memory.DeviceMemory;
import dev.flotilla.memory.KernelChoices;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Model;
import dev.flotilla.optim.AdamW;
import dev.flotilla.optim.Momentum;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.report.EventSink;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.step.NumericalException;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.precision.MixedPrecision;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.NormedPerceptron;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.train.Every;
import dev.flotilla.train.NonFinite;
import dev.flotilla.train.Trainer;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import org.bytedeco.pytorch.global.torch;

/** What a GPU decides by itself, without the host waiting for it, is what the host would decide. */
record LateVoteCheck(DeviceChoice device, Verdicts verdicts) {

  private static final ColouredPoints POINTS = new ColouredPoints(480, 8, 4);
  private static final int BATCH = 32;
  private static final int STEPS = 30;

  /** Updates to one that is logged; some of these are left out at first. */
  private static final int LOGGED = 5;

  private static final List<Integer> POISONED = List.of(4, 5, 11, 23);

  /** What a training comes to. */
  private record Seen(
      Snapshot values, long updates, int open, List<String> notes, List<String> logged) {}

  /** Windows with infinite numbers, asked about after each step, never, and on a CPU. */
  void leavesUpdatesOut() {
    expectSame("momentum", new Momentum(0.1, 0.9), Float.NaN, 1e-4);
    expectSame("adamw", new AdamW(0.01), Float.POSITIVE_INFINITY, 1e-3);
    expectSame("adamw, merged", new AdamW(0.01), Float.NaN, 1e-3, new GradientMerge(2));
    var amp = new MixedPrecision(Dtype.FP16);
    expectSame("adamw, fp16 with overflows", new AdamW(0.01), 1e30f, 0.05, amp);
    var high = new MixedPrecision(Dtype.FP16, 1e9, 1000, 1, 2.0, 0.1, true);
    expectSame("momentum, fp16 from a high scale", new Momentum(0.1, 0.9), 0, 0.05, high);
  }

  private void expectSame(
      String name, Optimizer rule, float poison, double allowed, Strategy... with) {
    var late = train(device, rule, poison, false, with);
    var asked = train(device, rule, poison, true, with);
    var cpu = train(DeviceChoice.CPU, rule, poison, true, with);
    verdicts.expect(name + ": the host does not wait", late.open() > STEPS / 3, late.open() + "");
    verdicts.expect(
        name + ": the same bits as asked for", late.values().isSameAs(asked.values()), "");
    verdicts.expect(
        name + ": the same updates and notices",
        late.updates() == asked.updates()
            && late.updates() == cpu.updates()
            && late.notes().equals(asked.notes())
            && late.notes().equals(cpu.notes()),
        "%d, %d, %d; %s; %s; %s"
            .formatted(
                late.updates(),
                asked.updates(),
                cpu.updates(),
                late.notes(),
                asked.notes(),
                cpu.notes()));
    verdicts.expect(
        name + ": the same is logged",
        late.logged().size() == late.updates() / LOGGED && late.logged().equals(asked.logged()),
        late.logged() + "; " + asked.logged());
    double distance = late.values().relativeDistance(cpu.values());
    verdicts.expect(
        name + ": GPU as CPU", distance < allowed, String.format(Locale.ROOT, "%.2e", distance));
  }

  private static Seen train(
      DeviceChoice device, Optimizer rule, float poison, boolean isAsked, Strategy... with) {
    List<String> notes = new ArrayList<>();
    List<String> logged = new ArrayList<>();
    int open = 0;
    try (var trainer =
        trainer(
            device,
            rule,
            NonFinite.SKIP,
            event -> {
              if (event instanceof TrainingEvent.Noted(var text)) {
                notes.add(text);
              } else if (event instanceof TrainingEvent.Updated it) {
                logged.add(it.update() + ": " + it.loss() + " " + it.lr());
              }
            },
            with)) {
      for (int i = 0; i < STEPS; i++) {
        try (var _ = TensorScope.open()) {
          var outcome = trainer.step(batch(i, POISONED.contains(i) ? poison : 0));
          open += outcome.isKnown() ? 0 : 1;
          if (isAsked) {
            trainer.updates();
          }
        }
      }
      return new Seen(Snapshot.of(trainer), trainer.updates(), open, notes, logged);
    }
  }

  private static Trainer trainer(
      DeviceChoice device, Optimizer rule, NonFinite policy, EventSink events, Strategy... with) {
    return Trainer.on(World.solo())
        .model(modelFor(rule))
        .optimizer(rule)
        .strategy(with)
        .device(device)
        .nonFinite(policy)
        .threads(1)
        .loop(loop -> loop.logEach(Every.updates(LOGGED)))
        .events(events)
        .build();
  }

  /**
   * Adam divides rounding by rounding where a gradient is zero, as that of an offset before
   * BatchNorm is: a GPU then ends far from a CPU.
   */
  private static Model modelFor(Optimizer rule) {
    return rule instanceof Momentum ? new NormedPerceptron(8, 16, 4) : new Mlp(8, List.of(16), 4);
  }

  private static Batch batch(int number, float poison) {
    int first = number * BATCH % POINTS.size();
    var batch = POINTS.load(IntStream.range(first, first + BATCH).toArray());
    if (poison != 0) {
      NativeView.of(batch.inputs().getFirst()).setAtIndex(ValueLayout.JAVA_FLOAT, 0, poison);
    }
    return batch;
  }

  /**
   * A run that is to end with the first infinite number has updated nothing with it or after it.
   */
  void stops() {
    try (var trainer = trainer(device, new AdamW(0.01), NonFinite.STOP, _ -> {});
        var _ = TensorScope.open()) {
      for (int i = 0; i < 3; i++) {
        trainer.step(batch(i, 0));
      }
      trainer.step(batch(3, Float.NaN));
      var before = Snapshot.of(trainer);
      String message = "nothing";
      try {
        trainer.step(batch(4, 0));
      } catch (NumericalException stopped) {
        message = String.valueOf(stopped.getMessage());
      }
      verdicts.expect(
          "stop: the next step says so", message.contains("after update 3 the loss"), message);
      trainer.abandonStep();
      verdicts.expect(
          "stop: nothing was updated",
          Snapshot.of(trainer).isSameAs(before) && trainer.updates() == 3,
          "");
    }
  }

  /** Steps that nobody asks about leave nothing behind. */
  void isFlat() {
    try (var trainer = trainer(device, new AdamW(0.01), NonFinite.SKIP, _ -> {})) {
      var memory = new DeviceMemory(trainer.model().device());
      steps(trainer, 20);
      long live = memory.liveBytes();
      memory.forgetPeak();
      steps(trainer, 100);
      long peak = memory.peakBytes();
      steps(trainer, 1000);
      verdicts.expect(
          "steps that nobody asks about: live and peak bytes are flat",
          memory.liveBytes() == live && memory.peakBytes() == peak,
          live + " to " + memory.liveBytes() + ", peak " + peak + " to " + memory.peakBytes());
    }
  }

  private static void steps(Trainer trainer, int count) {
    for (int i = 0; i < count; i++) {
      try (var _ = TensorScope.open()) {
        trainer.step(batch(i, i % 100 == 7 ? Float.NaN : 0));
      }
    }
  }

  /** A trial of attention's kernels, in the first of two runs, moves no random number. */
  void triesAttention() {
    torch.globalContext().setDeterministicAlgorithms(false, false);
    try {
      double first = firstLoss();
      double second = firstLoss();
      verdicts.expect(
          "attention: a trial changes no random number", first == second, first + ", " + second);
      verdicts.expect(
          "attention: a kernel was chosen",
          !KernelChoices.made().isEmpty(),
          KernelChoices.made().toString());
    } finally {
      torch.globalContext().setDeterministicAlgorithms(true, true);
    }
  }

  private double firstLoss() {
    var job = DeviceJob.bert(0.1);
    try (var trainer = job.trainer(device, World.solo(), new MixedPrecision(Dtype.BF16)).build();
        var _ = TensorScope.open()) {
      return trainer.step(job.data().load(IntStream.range(0, 8).toArray())).totals().lossSum();
    }
  }
}
