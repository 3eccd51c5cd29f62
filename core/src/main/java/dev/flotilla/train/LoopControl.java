package dev.flotilla.train;

/**
 * What a {@link Callback} sees of a loop, and asks of it.
 *
 * <p>What one rank asks for, all ranks do. After an evaluation, and before and after an epoch, they
 * do it at once. What is asked before or after a step rides on the exchange of the step that comes
 * next, as the loss does, and costs no communication of its own: another learning rate holds for
 * that step, and a stop or an evaluation comes after it, on one rank as on many. Of learning rates
 * that differ, the one counts that the lowest rank asks for.
 */
public final class LoopControl {

  private final Callbacks callbacks;

  LoopControl(Callbacks callbacks) {
    this.callbacks = callbacks;
  }

  /** Returns the number of updates made. */
  public long updates() {
    return callbacks.updates();
  }

  /** Returns the number of the epoch, from 0. */
  public int epoch() {
    return callbacks.epoch();
  }

  /** Returns the learning rate of the next update. */
  public double learningRate() {
    return callbacks.learningRate();
  }

  /**
   * Asks for a learning rate that takes the place of the optimizer's and its schedule's.
   *
   * @throws IllegalArgumentException if it is not a number greater than 0
   */
  public void setLearningRate(double rate) {
    callbacks.requests().setRate(positive("the learning rate", rate));
  }

  /**
   * Asks for all learning rates from now on to be so many times as large; a schedule goes on.
   *
   * @throws IllegalArgumentException if it is not a number greater than 0
   */
  public void scaleLearningRate(double factor) {
    callbacks.requests().scaleRate(positive("the factor of the learning rate", factor));
  }

  private static double positive(String what, double value) {
    if (!(value > 0) || Double.isInfinite(value)) {
      throw new IllegalArgumentException(
          "%s must be a number greater than 0, but was %s".formatted(what, value));
    }
    return value;
  }

  /**
   * Asks for the end: a fit ends well, an own loop finds it in {@link Trainer#stopAsked}.
   *
   * @param reason for people to read
   */
  public void stop(String reason) {
    callbacks.requests().stop(reason);
  }

  /**
   * Asks for an evaluation on the data of the loop's settings.
   *
   * @throws IllegalStateException if they name none
   */
  public void evaluate() {
    callbacks.requireData();
    callbacks.requests().evaluate();
  }

  /**
   * Notes a number: it is among the events and on the line of progress, and the last one of each
   * name in the summary.
   */
  public void log(String name, double value) {
    callbacks.log(name, value);
  }
}
