package dev.flotilla.predict;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * What a model says of one sample: its outputs and, where it classifies, the probability of each
 * class.
 */
public final class Prediction {

  private final double[] outputs;
  private final double[] probabilities;
  private final List<String> classNames;

  private Prediction(double[] outputs, double[] probabilities, List<String> classNames) {
    this.outputs = outputs;
    this.probabilities = probabilities;
    this.classNames = classNames;
  }

  /** Returns numbers that are no classes. */
  static Prediction ofNumbers(double[] outputs) {
    return new Prediction(outputs, new double[0], List.of());
  }

  /**
   * Returns a choice among classes.
   *
   * @param classNames a name for each class, or none for their numbers
   */
  static Prediction ofLogits(double[] logits, List<String> classNames) {
    return new Prediction(logits, softmax(logits), classNames);
  }

  private static double[] softmax(double[] logits) {
    double largest = Arrays.stream(logits).max().orElse(0);
    var shares = Arrays.stream(logits).map(it -> Math.exp(it - largest)).toArray();
    double sum = Arrays.stream(shares).sum();
    return Arrays.stream(shares).map(it -> it / sum).toArray();
  }

  /** Returns the model's outputs as they are: logits of a classifier. */
  public double[] outputs() {
    return outputs.clone();
  }

  /** Tells whether the model has chosen among classes. */
  public boolean isClassification() {
    return probabilities.length > 0;
  }

  /** Returns the probability of each class; empty where there are none. */
  public double[] probabilities() {
    return probabilities.clone();
  }

  /** Returns the number of the most probable class, of equals the first. */
  public int classIndex() {
    requireClasses();
    return IntStream.range(0, probabilities.length)
        .reduce((best, next) -> probabilities[next] > probabilities[best] ? next : best)
        .orElseThrow();
  }

  /** Returns the name of the most probable class, or its number where it has none. */
  public String className() {
    return className(classIndex());
  }

  /** Returns the name of a class, or its number where it has none. */
  public String className(int index) {
    requireClasses();
    return index < classNames.size() ? classNames.get(index) : Integer.toString(index);
  }

  /** Returns the probability of the most probable class. */
  public double probability() {
    return probabilities[classIndex()];
  }

  private void requireClasses() {
    if (!isClassification()) {
      throw new IllegalStateException(
          "the model's objective is no classification: ask for outputs()");
    }
  }

  /** Returns a text like {@code cat 0.93}, or the outputs. */
  @Override
  public String toString() {
    return isClassification()
        ? "%s %s".formatted(className(), (float) probability())
        : Arrays.toString(outputs);
  }
}
