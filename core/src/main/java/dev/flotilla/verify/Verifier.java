package dev.flotilla.verify;

import dev.flotilla.data.BatchSource;
import dev.flotilla.memory.Precision;
import dev.flotilla.model.Model;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.train.TrainerBuilder;
import dev.flotilla.verify.Verification.Difference;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * Runs a few accumulation windows merged and as one large batch each, from the same weights, and
 * compares the gradient and the weights of every update.
 *
 * <p>float64 decides, at a relative difference of {@value Verification#LIMIT}; float32 is reported.
 * Keeps two copies of the model per window and side on the Java heap, and needs the memory of one
 * large batch in float64.
 */
public final class Verifier {

  /**
   * What is trained, but for the merging.
   *
   * @param model the model
   * @param trainer returns a new builder for this process alone, without model and techniques
   * @param techniques techniques that both sides use
   * @param source samples in micro-batches
   * @param plannedUpdates updates of the whole run, for learning-rate schedules
   */
  public record Subject(
      Model model,
      Supplier<TrainerBuilder> trainer,
      List<Strategy> techniques,
      BatchSource source,
      long plannedUpdates) {}

  private final Subject subject;
  private final SwitchedModel model;
  private final WindowPlan plan;
  private final int kSteps;

  /**
   * Chooses the windows.
   *
   * @param kSteps micro-batches of a full window
   * @param windows number of windows, at least 1; from 3 on the end of an epoch and what follows it
   *     are among them
   * @throws ConfigException if no window has two micro-batches
   */
  public Verifier(Subject subject, int kSteps, int windows) {
    this.subject = subject;
    this.kSteps = kSteps;
    model = new SwitchedModel(subject.model());
    plan = WindowPlan.of(subject.source(), kSteps, windows);
    if (plan.longest() < 2) {
      throw new ConfigException(
          "", "there is nothing to compare: no accumulation window has more than one micro-batch");
    }
  }

  /** Verifies a technique that merges. */
  public Verification verify(Strategy merge) {
    return verify((_, precision) -> loop(precision, List.of(merge), 1));
  }

  /** Verifies any loop. */
  public Verification verify(Loop.Opener opener) {
    var start = new Start();
    var reference = record(Precision.FLOAT64, start, plan.largeBatches(), this::large);
    var ours = record(Precision.FLOAT64, start, plan.microBatches(), opener);
    var exact = new Differences(ours, reference);
    var parameters = parameters(exact, inFloat32(start, opener));
    boolean agree =
        exact.sameNumberOfUpdates() && parameters.stream().allMatch(Difference::isRounding);
    boolean isEqual = agree && !start.staysRandom && !start.mixesInTraining;
    List<Cause> causes = isEqual ? List.of() : causes(start, exact, ours, agree);
    return new Verification(
        isEqual,
        kSteps,
        plan.described(),
        ours.updates().size(),
        parameters,
        causes,
        start.notes());
  }

  private Differences inFloat32(Start start, Loop.Opener opener) {
    return new Differences(
        record(Precision.FLOAT32, start, plan.microBatches(), opener),
        record(Precision.FLOAT32, start, plan.largeBatches(), this::large));
  }

  private Recording record(
      Precision precision, Start start, List<MicroBatch> batches, Loop.Opener opener) {
    try (var loop = opener.open(model, precision)) {
      return Recording.of(loop, start.state, subject.source().dataset(), batches);
    }
  }

  private Loop large(Model ignored, Precision precision) {
    return loop(precision, List.of(), kSteps);
  }

  /** A learning rate that grows with the batch must be the same on both sides. */
  private Loop loop(Precision precision, List<Strategy> more, int microBatches) {
    int samples = Math.multiplyExact(subject.source().globalBatch(1), microBatches);
    return new TrainerLoop(builder(precision, more).microBatch(samples), subject.plannedUpdates());
  }

  private TrainerBuilder builder(Precision precision, List<Strategy> more) {
    List<Strategy> techniques = new ArrayList<>(subject.techniques());
    techniques.addAll(more);
    return subject
        .trainer()
        .get()
        .model(model)
        .precision(precision)
        .strategy(techniques.toArray(Strategy[]::new));
  }

  private static List<Difference> parameters(Differences exact, Differences rounded) {
    return exact.slots().stream()
        .map(
            slot ->
                new Difference(
                    slot.spec().name(),
                    exact.ofGradient(slot),
                    rounded.ofGradient(slot),
                    exact.ofWeights(slot),
                    rounded.ofWeights(slot)))
        .toList();
  }

  private Probe probe() {
    var trainer = subject.trainer().get().model(model).precision(Precision.FLOAT64).build();
    return new Probe(trainer, model, subject.source().dataset());
  }

  private ModelProbes probes(Probe probe) {
    var window = plan.windows().stream().filter(w -> w.size() > 1).findFirst().orElseThrow();
    return new ModelProbes(probe, window.get(0), window.get(1));
  }

  private List<Cause> causes(Start start, Differences exact, Recording ours, boolean agree) {
    var causes = new Causes(model);
    try (var probe = probe()) {
      start.state.restore(probe.bound());
      causes.ofModel(probes(probe), start.staysRandom);
      if (!agree) {
        causes.addAll(Composition.of(ours, plan, kSteps, probe).causes());
        causes.ofNumbers(exact);
      }
    }
    return causes.found();
  }

  /** What every run starts from, and how the model behaves there. */
  private final class Start {

    private final ModelState state;
    private final boolean staysRandom;
    private final boolean mixesInTraining;

    Start() {
      try (var probe = probe()) {
        state = ModelState.of(probe.bound());
        var probes = probes(probe);
        boolean isRandom = probes.isRandom();
        model.evaluate(isRandom);
        staysRandom = isRandom && probes.isRandom();
        model.evaluate(false);
        boolean isSwitchedOff = isRandom && !staysRandom;
        mixesInTraining = isSwitchedOff && probes.mixesSamples();
        model.evaluate(isSwitchedOff);
      }
    }

    List<String> notes() {
      return model.isEvaluating()
          ? List.of(
              "The model draws random numbers in training, as dropout does. They fall differently"
                  + " on micro-batches than on one large batch, so dropout is switched off here:"
                  + " both sides run the layers as in evaluation.")
          : List.of();
    }
  }
}
