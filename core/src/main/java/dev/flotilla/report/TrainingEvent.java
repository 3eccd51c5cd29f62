package dev.flotilla.report;

import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Something that happened during a run. */
public sealed interface TrainingEvent {

  /**
   * What the run is about to do.
   *
   * @param configuration the resolved configuration
   */
  record Configured(Map<String, Object> configuration) implements TrainingEvent {}

  /**
   * How the run will go; no part of the run's record, as a later version may describe it otherwise.
   *
   * @param pipeline what happens in each phase of a step, in words
   * @param stateBytes what parameters, gradients and optimizer are to take on a rank
   */
  record Planned(Map<String, String> pipeline, long stateBytes) implements TrainingEvent {}

  /**
   * Training begins.
   *
   * @param ranks number of ranks
   * @param parameters number of parameters
   * @param totalUpdates updates planned; 0 where a stream does not tell
   * @param epochs epochs planned
   */
  record Started(int ranks, long parameters, long totalUpdates, int epochs)
      implements TrainingEvent {}

  /**
   * An update that is logged; every log_every-th.
   *
   * @param epoch number of the epoch, from 0
   * @param update updates made so far
   * @param microSteps micro-steps made so far
   * @param loss mean loss of the accumulation window over all ranks
   * @param lr learning rate of the update
   * @param acc1 top-1 accuracy of this rank's last batch, or null without such a notion
   * @param acc5 top-5 accuracy of this rank's last batch, or null without such a notion
   * @param samplesPerSecond throughput of all ranks since the last logged update
   */
  record Updated(
      int epoch,
      long update,
      long microSteps,
      double loss,
      double lr,
      @Nullable Double acc1,
      @Nullable Double acc5,
      double samplesPerSecond)
      implements TrainingEvent {}

  /**
   * What this rank holds on its GPU at a logged update; never told of main memory.
   *
   * @param update updates made so far
   * @param device the device
   * @param liveBytes bytes of all live tensors
   * @param peakBytes largest number of live bytes so far
   */
  record DeviceUsed(long update, String device, long liveBytes, long peakBytes)
      implements TrainingEvent {}

  /**
   * What this rank has measured of itself, at an update that is logged; no part of the run's
   * record.
   *
   * @param update updates made so far
   * @param seconds where the time of its steps went since it was started: data, forward, backward,
   *     exchange, update, other; and hidden, the part of backward in which buckets were reduced
   * @param residentBytes main memory of its process
   * @param bytesSent what it has sent in exchanges, in all attempts at this run
   * @param density share of the gradients that ranks have sent in the last window, or null for all
   */
  record Timed(
      long update,
      Map<String, Double> seconds,
      long residentBytes,
      long bytesSent,
      @Nullable Double density)
      implements TrainingEvent {}

  /**
   * An epoch ends, before its evaluation.
   *
   * @param epoch number of the epoch, from 0
   * @param updates updates of this epoch
   * @param seconds time it took, evaluations left out
   */
  record EpochEnded(int epoch, long updates, double seconds) implements TrainingEvent {}

  /**
   * An evaluation on test data.
   *
   * @param epoch number of the epoch, from 0
   * @param update updates made so far
   * @param loss mean loss
   * @param acc1 top-1 accuracy, or null without such a notion
   * @param acc5 top-5 accuracy, or null without such a notion
   * @param samples samples evaluated
   * @param metrics what else was measured, by name: numbers, or rows of counts
   */
  record Evaluated(
      int epoch,
      long update,
      double loss,
      @Nullable Double acc1,
      @Nullable Double acc5,
      long samples,
      Map<String, Object> metrics)
      implements TrainingEvent {}

  /**
   * Numbers that callbacks have noted.
   *
   * @param epoch number of the epoch, from 0
   * @param update updates made so far
   * @param values by name
   */
  record Logged(int epoch, long update, Map<String, Double> values) implements TrainingEvent {}

  /**
   * Ranks have averaged their parameters after updates of their own.
   *
   * @param update updates made so far
   * @param interval updates since the average before
   * @param driftMean mean over ranks of the distance between a rank's parameters and the average
   * @param driftLargest the largest of these distances
   * @param loss mean loss over all ranks, as the interval is computed from it
   * @param seconds time that rank 0 has waited for it
   */
  record Averaged(
      long update,
      long interval,
      double driftMean,
      double driftLargest,
      double loss,
      double seconds)
      implements TrainingEvent {}

  /**
   * The other ranks wait for one, or no longer do.
   *
   * @param update updates made so far
   * @param rank the slow one
   * @param times how many times as long as the median of the others it works; 1 when it keeps up
   *     again
   * @param share of the time for which the others wait for it; 0 when it keeps up again
   */
  record Straggler(long update, int rank, double times, double share) implements TrainingEvent {

    /** Returns a sentence for people. */
    public String text() {
      return share == 0
          ? "rank %d keeps up again".formatted(rank)
          : String.format(
              Locale.ROOT,
              "rank %d is slow: it works %.1f times as long as the others, which wait for it %.0f"
                  + " %% of the time; look at its host's load, threads, clock rate and data",
              rank,
              times,
              100 * share);
    }
  }

  /**
   * A checkpoint is being saved.
   *
   * @param update updates made so far
   * @param microSteps micro-steps made so far
   */
  record Saved(long update, long microSteps) implements TrainingEvent {}

  /**
   * The run goes on where a checkpoint was saved; all events so far are void but those before it.
   *
   * @param checkpoint its folder
   * @param update updates made before
   */
  record Resumed(String checkpoint, long update) implements TrainingEvent {}

  /**
   * A line the user should read.
   *
   * @param text the line
   */
  record Noted(String text) implements TrainingEvent {}

  /**
   * Something measured in this attempt at the run, on this machine; no part of the run's record.
   *
   * @param text one or more lines
   */
  record Measured(String text) implements TrainingEvent {}

  /**
   * The run ends well.
   *
   * @param summary what summary.json holds
   */
  record Finished(Map<String, Object> summary) implements TrainingEvent {}
}
