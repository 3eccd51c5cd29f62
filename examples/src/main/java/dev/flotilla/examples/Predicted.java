package dev.flotilla.examples;

import dev.flotilla.predict.Prediction;
import dev.flotilla.predict.Predictor;
import dev.flotilla.zoo.data.Digits;
import java.nio.file.Path;
import java.util.List;

/** The model of a run says which digits it sees. */
public final class Predicted {

  private Predicted() {}

  /** Prints class and probability of the first ten test images, given the folder of a run. */
  public static void main(String[] args) {
    run(Path.of(args[0])).forEach(System.out::println);
  }

  static List<Prediction> run(Path runFolder) {
    try (var predictor = Predictor.load(runFolder)) {
      return predictor.predict(new Digits().test(), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    }
  }
}
