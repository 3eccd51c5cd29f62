package dev.flotilla.board.run;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A run as its folder tells it at one moment; immutable.
 *
 * @param name of its folder
 * @param folder where it lies
 * @param identity 16 hexadecimal digits, or empty in folders of earlier versions
 * @param isFinished whether it has ended well; if not, it goes on or was stopped or killed
 * @param begun when it was configured
 * @param last when its last event happened
 * @param ranks number of ranks, 0 if training has not begun
 * @param parameters number of parameters, 0 if training has not begun
 * @param totalUpdates updates planned, 0 if that is not known
 * @param epochs epochs planned
 * @param update updates made at the last event
 * @param pipeline what happens in each phase of a step, in words; empty if it is not known
 * @param stateBytes what parameters, gradients and optimizer were to take on a rank; 0 if it is not
 *     known
 * @param configuration the resolved configuration, without secrets
 * @param summary what summary.json holds, without the configuration; empty if it has not ended
 * @param series its curves, by chart and line
 * @param timeline what happened, in order
 * @param stepTimes where the time went, by rank; rank 0 alone before the run has ended
 * @param checkpoints names of the checkpoints that are there, in order
 */
public record Run(
    String name,
    Path folder,
    String identity,
    boolean isFinished,
    Optional<Instant> begun,
    Optional<Instant> last,
    int ranks,
    long parameters,
    long totalUpdates,
    int epochs,
    long update,
    Map<String, Object> pipeline,
    long stateBytes,
    Map<String, Object> configuration,
    Map<String, Object> summary,
    List<Series> series,
    List<Moment> timeline,
    List<StepTime> stepTimes,
    List<String> checkpoints) {

  /**
   * Reads a folder once, as it is now.
   *
   * @throws RunException if there is no such folder, it holds no run, or its events are damaged
   */
  public static Run read(Path folder) {
    var follower = new RunFollower(folder);
    follower.poll();
    return follower.run();
  }

  /** Returns the run under another name. */
  public Run named(String other) {
    return new Run(
        other,
        folder,
        identity,
        isFinished,
        begun,
        last,
        ranks,
        parameters,
        totalUpdates,
        epochs,
        update,
        pipeline,
        stateBytes,
        configuration,
        summary,
        series,
        timeline,
        stepTimes,
        checkpoints);
  }

  /** Returns the series of a chart and line, if the run has it. */
  public Optional<Series> series(String chart, String line) {
    return series.stream()
        .filter(it -> it.key().chart().equals(chart) && it.key().line().equals(line))
        .findFirst();
  }

  /** Returns the time between its first and last event. */
  public Duration elapsed() {
    return begun.isEmpty() || last.isEmpty()
        ? Duration.ZERO
        : Duration.between(begun.get(), last.get());
  }
}
