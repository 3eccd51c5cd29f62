package dev.flotilla.launch;

import dev.flotilla.control.Frame;
import dev.flotilla.launch.RestartPolicy.Decision;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

/** Runs all ranks of this host, again after a failure as long as the policy says so. */
final class Attempts {

  /** Time for other hosts to end their ranks, or for the first host to decide. */
  private static final Duration OTHERS_TAKE = Duration.ofSeconds(15);

  private final LaunchSettings settings;
  private final RankCommand command;
  private final RankStarter starter;
  private final ControlRoom room;
  private final Interruption interruption;
  private final Console console;
  private final RestartPolicy policy;

  Attempts(
      LaunchSettings settings,
      RankCommand command,
      RankStarter starter,
      ControlRoom room,
      Interruption interruption,
      Console console) {
    this.settings = settings;
    this.command = command;
    this.starter = starter;
    this.room = room;
    this.interruption = interruption;
    this.console = console;
    this.policy = new RestartPolicy(settings.policy().maxRestarts());
  }

  LaunchResult run() throws IOException {
    for (int attempt = 0; ; attempt++) {
      LaunchResult result = run(attempt);
      Optional<LaunchResult> last = conclude(result, attempt);
      if (last.isPresent()) {
        return last.get();
      }
    }
  }

  private LaunchResult run(int attempt) throws IOException {
    List<Integer> ranks =
        IntStream.range(0, settings.processes()).map(starter::rankOf).boxed().toList();
    room.prepare(attempt, ranks);
    try (var group = new RankGroup(starter.launchId(), starter.secrets())) {
      starter.startInto(group, command, console, attempt);
      return new Supervisor(group, interruption, room, console, settings).supervise();
    }
  }

  /** Returns the result if no other attempt follows; otherwise waits until it is due. */
  private Optional<LaunchResult> conclude(LaunchResult result, int attempt) {
    room.sendToHosts(new Frame.HostEnded(attempt));
    if (result.failure().isEmpty()) {
      return Optional.of(result);
    }
    try {
      Decision decision = room.others().isFirst() ? decide(result, attempt) : beTold();
      if (!decision.reason().isEmpty()) {
        console.say(decision.reason());
      }
      return decision.restarts() ? waitFor(decision.delay()) : Optional.of(result);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.of(LaunchResult.interrupted());
    }
  }

  private Decision decide(LaunchResult result, int attempt) throws InterruptedException {
    Decision decision = policy.after(result.exitCode(), room.updates());
    boolean canRestart =
        !decision.restarts() || awaitUnlessAsked(room.others()::haveAllEnded, OTHERS_TAKE);
    Decision kept =
        canRestart
            ? decision
            : Decision.giveUp(
                interruption.isAskedFor()
                    ? "not restarted: asked to stop"
                    : "not restarted: another host does not end its ranks, or is gone");
    room.sendToHosts(
        new Frame.NextAttempt(
            kept.restarts() ? attempt + 1 : -1, kept.delay().toMillis(), kept.reason()));
    return kept;
  }

  private Decision beTold() throws InterruptedException {
    if (settings.policy().maxRestarts() == 0) {
      return Decision.giveUp("");
    }
    boolean _ =
        awaitUnlessAsked(
            () -> room.others().next().isPresent() || !room.canReachFirst(),
            OTHERS_TAKE.multipliedBy(2));
    return room.others()
        .next()
        .map(
            next ->
                new Decision(
                    next.generation() >= 0, Duration.ofMillis(next.delayMillis()), next.reason()))
        .orElseGet(
            () -> Decision.giveUp("not restarted: the first host's launcher does not answer"));
  }

  /** Waits for other hosts; whoever asks this launch to end need not wait for them. */
  private boolean awaitUnlessAsked(BooleanSupplier condition, Duration longest)
      throws InterruptedException {
    boolean _ = room.await(() -> condition.getAsBoolean() || interruption.isAskedFor(), longest);
    return condition.getAsBoolean() && !interruption.isAskedFor();
  }

  private Optional<LaunchResult> waitFor(Duration delay) throws InterruptedException {
    boolean _ = room.await(interruption::isAskedFor, delay);
    interruption.stopSignal().ifPresent(interruption::request);
    return interruption.isRequested()
        ? Optional.of(LaunchResult.ended(interruption.exitCode()))
        : Optional.empty();
  }
}
