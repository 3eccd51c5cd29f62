package dev.flotilla.examples;

import dev.flotilla.predict.ModelExport;
import dev.flotilla.predict.Prediction;
import dev.flotilla.predict.Predictor;
import dev.flotilla.zoo.data.Digits;
import java.nio.file.Path;
import java.util.List;

/** The model of a run says which digits it sees, and leaves for other programs as ONNX. */
public final class Predicted {

  private Predicted() {}

  /** Prints what is in the first ten test images, given a run's folder and a file to write. */
  public static void main(String[] args) {
    run(Path.of(args[0]), Path.of(args[1])).forEach(System.out::println);
  }

  static List<Prediction> run(Path runFolder, Path onnxFile) {
    System.out.println(ModelExport.of(runFolder).toOnnx(onnxFile));
    try (var predictor = Predictor.load(runFolder)) {
      return predictor.predict(new Digits().test(), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    }
  }
}
