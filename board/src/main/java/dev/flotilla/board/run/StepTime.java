package dev.flotilla.board.run;

/**
 * Where the time of a rank's steps went, in seconds of its own clock, summed over its updates.
 *
 * @param rank whose
 * @param data waited for data
 * @param forward ran forward, with the loss
 * @param backward ran backward, with what it recomputes
 * @param exchange waited for gradients to be reduced
 * @param update changed parameters, with filters and averages
 * @param other everything else
 * @param hidden reduced gradients while backward went on; part of backward, not added to it
 */
public record StepTime(
    int rank,
    double data,
    double forward,
    double backward,
    double exchange,
    double update,
    double other,
    double hidden) {

  /** Returns all of the time. */
  public double total() {
    return data + forward + backward + exchange + update + other;
  }
}
