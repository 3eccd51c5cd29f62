package dev.flotilla.app;

import dev.flotilla.predict.Prediction;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.StringJoiner;

/** How predictions are written: a line for each sample. */
enum PredictionFormat {
  CSV {
    @Override
    String head(Prediction first) {
      var line = new StringJoiner(",");
      line.add("sample");
      if (first.isClassification()) {
        line.add("class").add("probability");
      }
      for (int i = 0; i < first.outputs().length; i++) {
        line.add(first.isClassification() ? quoted(first.className(i)) : "output_" + i);
      }
      return line + "\n";
    }

    @Override
    String line(long sample, Prediction prediction) {
      var line = new StringJoiner(",");
      line.add(Long.toString(sample));
      if (prediction.isClassification()) {
        line.add(quoted(prediction.className()));
        line.add(Float.toString((float) prediction.probability()));
      }
      for (float value : numbers(prediction)) {
        line.add(Float.toString(value));
      }
      return line + "\n";
    }
  },

  JSONL {
    @Override
    String line(long sample, Prediction prediction) {
      Map<String, Object> line = new LinkedHashMap<>();
      line.put("sample", sample);
      if (prediction.isClassification()) {
        line.put("class", prediction.className());
        line.put("probability", (float) prediction.probability());
        line.put("probabilities", named(prediction));
      } else {
        line.put("outputs", numbers(prediction));
      }
      return Json.line(line) + "\n";
    }

    private Map<String, Object> named(Prediction prediction) {
      var probabilities = numbers(prediction);
      Map<String, Object> byClass = new LinkedHashMap<>();
      for (int i = 0; i < probabilities.length; i++) {
        byClass.put(prediction.className(i), probabilities[i]);
      }
      return byClass;
    }
  };

  /** Returns what stands before the first line. */
  String head(Prediction first) {
    return "";
  }

  abstract String line(long sample, Prediction prediction);

  /** A model computes in float32: more digits would say nothing. */
  private static float[] numbers(Prediction prediction) {
    var values = prediction.isClassification() ? prediction.probabilities() : prediction.outputs();
    var rounded = new float[values.length];
    for (int i = 0; i < values.length; i++) {
      rounded[i] = (float) values[i];
    }
    return rounded;
  }

  private static String quoted(String text) {
    boolean isPlain = text.chars().noneMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r');
    return isPlain ? text : '"' + text.replace("\"", "\"\"") + '"';
  }
}
