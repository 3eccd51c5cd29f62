package dev.flotilla.step;

import dev.flotilla.arena.ParameterArena;
import dev.flotilla.collective.Collective;
import dev.flotilla.pass.BoundModel;
import dev.flotilla.report.EventSink;
import java.util.OptionalInt;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * What a claim's factory may use to build its worker.
 *
 * @param model the bound model with its arenas
 * @param collective the group of all ranks
 * @param peers those that exchange gradients with this rank, and hold the same parameters at all
 *     times: all, or those of one host
 * @param update makes the default update
 * @param updateSettings what the default update would be
 * @param microBatch samples of a micro-step over all ranks, where known
 * @param ranksOnHost ranks that share this host's memory
 * @param host number of this rank's host
 * @param endsAtNonFinite whether the run ends with the first loss or gradient that is not finite
 * @param notices takes one-line messages for the user
 * @param measured takes what was measured on this machine, which is no part of the run's record
 * @param events takes what happened
 */
public record StepContext(
    BoundModel model,
    Collective collective,
    Collective peers,
    Supplier<Update> update,
    UpdateSettings updateSettings,
    OptionalInt microBatch,
    int ranksOnHost,
    int host,
    boolean endsAtNonFinite,
    Consumer<String> notices,
    Consumer<String> measured,
    EventSink events) {

  /** Returns parameters and gradients. */
  public ParameterArena arena() {
    return model.arena();
  }
}
