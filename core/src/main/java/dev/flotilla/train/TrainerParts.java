package dev.flotilla.train;

import dev.flotilla.checkpoint.Position;
import dev.flotilla.collective.Collective;
import dev.flotilla.pass.BoundModel;
import dev.flotilla.pass.Evaluator;
import dev.flotilla.pass.OutOfMemoryException;
import dev.flotilla.pass.RunningStatistics;
import dev.flotilla.pass.SegmentChain;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.state.Stateful;
import dev.flotilla.step.MicroSteps;
import dev.flotilla.step.OptimizerUpdate;
import dev.flotilla.step.StepContext;
import dev.flotilla.step.StepOutcome;
import dev.flotilla.step.StepPlan;
import dev.flotilla.step.UpdateSettings;
import dev.flotilla.strategy.StepPlanner;
import java.util.ArrayList;
import java.util.List;

/**
 * What a {@link Trainer} is made of: joins the other ranks, puts the parts together, and closes
 * them.
 */
final class TrainerParts implements AutoCloseable {

  private final TrainerSettings settings;
  private final Resources resources = new Resources();
  private final Collective collective;
  private final BoundModel model;
  private final SegmentChain chain;
  private final RunningStatistics statistics;
  private final LearningRate learningRate;
  private final Callbacks callbacks;
  private final MicroSteps steps;
  private final Replica replica;
  private final AveragedReplica ema;
  private final Evaluations evaluations;
  private final NumberGuard guard;
  private final Pace pace;
  private final FitProgress progress = new FitProgress();
  private final FitDecisions decisions;
  private final OwnSteps ownSteps;
  private final SentBefore sentBefore = new SentBefore();
  private final Checkpoints checkpoints;
  private long epochs;

  /** Makes everything ready for the first step; all ranks come here together. */
  TrainerParts(TrainerSettings settings, StepPlanner.Plan plan) {
    this.settings = settings;
    try {
      plan.warnings().forEach(issue -> note(issue.toString()));
      var start = new CommonStart(settings, resources, this::note);
      collective = start.collective();
      model = start.model();
      chain = resources.own(new SegmentChain(model, settings.seed(), collective.rank()));
      statistics = resources.own(new RunningStatistics(model.buffers(), collective));
      learningRate = newLearningRate();
      callbacks = new Callbacks(settings, collective, learningRate);
      steps = resources.own(newSteps(plan.step(), start.peers()));
      callbacks.follow(steps);
      watchUpdates();
      var evaluator = new Evaluator(model, chain, collective, settings.metrics());
      replica = new Replica(model, statistics, steps.sync(), evaluator, collective);
      ema = new AveragedReplica(replica, steps.average(), settings.averageName());
      evaluations = new Evaluations(ema, settings.loop());
      guard = new NumberGuard(settings.nonFinite(), this::note);
      pace = new Pace(collective, settings.events(), System::nanoTime);
      decisions = new FitDecisions(settings, progress, learningRate);
      ownSteps = new OwnSteps(this);
      checkpoints =
          resources.own(
              new Checkpoints(
                  settings.checkpoints(),
                  collective,
                  settings.events(),
                  start.facts(),
                  remembered(),
                  settings.runFolder()));
    } catch (RuntimeException failure) {
      resources.closeAfter(failure);
      throw OutOfMemoryException.isMeantBy(failure)
          ? OutOfMemoryException.atStart(failure)
          : failure;
    } catch (Error failure) {
      resources.closeAfter(failure);
      throw failure;
    }
  }

  private LearningRate newLearningRate() {
    return new LearningRate(
        settings.optimizer(),
        settings.schedule(),
        settings.scheduleUnit(),
        this::epoch,
        settings.microBatch(),
        this::microStepsAfter);
  }

  private MicroSteps newSteps(StepPlan plan, Collective peers) {
    var update =
        new UpdateSettings(
            settings.optimizer(),
            settings.noDecay(),
            settings.groups(),
            settings.model(),
            this::epoch);
    var context =
        new StepContext(
            model,
            collective,
            peers,
            () -> OptimizerUpdate.ofAll(model.arena(), update),
            update,
            settings.microBatch(),
            settings.world().localSize(),
            settings.world().nodeRank(),
            settings.nonFinite() == NonFinite.STOP,
            this::note,
            text -> settings.events().on(new TrainingEvent.Measured(text)),
            settings.events());
    return new MicroSteps(plan, context, chain, statistics, learningRate, callbacks::agree);
  }

  private void watchUpdates() {
    var board = settings.tensorBoard();
    if (board != null) {
      settings
          .histograms()
          .ifPresent(every -> steps.watch(new ParameterHistograms(every.count(), board)));
    }
  }

  private int microStepsAfter(long update) {
    return steps.perWindow(update);
  }

  /** Returns the number of the epoch that is under way, from 0. */
  private long epoch() {
    return progress.isUnderWay ? progress.firstEpoch + progress.epoch : ownSteps.epoch();
  }

  /** Returns what checkpoints hold. */
  private List<Stateful> remembered() {
    List<Stateful> parts = new ArrayList<>(learned());
    parts.add(state -> sentBefore.remember(state, collective));
    if (settings.runFolder() != null) {
      parts.add(settings.runFolder());
    }
    return parts;
  }

  /** Returns what training changes. */
  List<Stateful> learned() {
    List<Stateful> parts = new ArrayList<>();
    parts.addAll(List.of(replica, statistics, steps, chain, progress));
    parts.addAll(List.of(learningRate, callbacks, ownSteps));
    parts.add(replica.own(guard));
    parts.add(state -> epochs = state.shared().number("trainer/epochs", epochs));
    parts.addAll(settings.remembered());
    return parts;
  }

  /** Saves a checkpoint of this moment, without an event; all ranks call it together. */
  void save() {
    callbacks.beforeSave();
    checkpoints.save(position());
  }

  /** Returns how far training has come. */
  Position position() {
    return new Position(steps.updates(), steps.count());
  }

  /** Compares the parameters of all ranks if that is due after the updates made. */
  void compareRanksIfDue() {
    settings.compareEvery().ifPresent(every -> replica.compareAfter(steps.updates(), every));
  }

  void note(String text) {
    settings.events().on(new TrainingEvent.Noted(text));
  }

  TrainerSettings settings() {
    return settings;
  }

  Collective collective() {
    return collective;
  }

  /** Returns the model, with all parameters that were on their way from other ranks. */
  BoundModel model() {
    model.gate().settle();
    return model;
  }

  SegmentChain chain() {
    return chain;
  }

  RunningStatistics statistics() {
    return statistics;
  }

  LearningRate learningRate() {
    return learningRate;
  }

  Callbacks callbacks() {
    return callbacks;
  }

  MicroSteps steps() {
    return steps;
  }

  Replica replica() {
    return replica;
  }

  AveragedReplica ema() {
    return ema;
  }

  Evaluations evaluations() {
    return evaluations;
  }

  NumberGuard guard() {
    return guard;
  }

  Pace pace() {
    return pace;
  }

  /** Looks at what a micro-step did, whatever loop it belongs to. */
  void judge(StepOutcome outcome) {
    guard.judge(outcome, steps.updates());
    if (outcome.step().endsWindow()) {
      pace.afterWindow(steps.updates());
    }
  }

  FitProgress progress() {
    return progress;
  }

  FitDecisions decisions() {
    return decisions;
  }

  OwnSteps ownSteps() {
    return ownSteps;
  }

  SentBefore sentBefore() {
    return sentBefore;
  }

  Checkpoints checkpoints() {
    return checkpoints;
  }

  /** Returns the number of epochs made; a second fit goes on where the first one ended. */
  long epochs() {
    return epochs;
  }

  void epochs(long made) {
    epochs = made;
  }

  @Override
  public void close() {
    resources.close();
  }
}
