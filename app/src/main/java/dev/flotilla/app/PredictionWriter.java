package dev.flotilla.app;

import dev.flotilla.predict.Prediction;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.util.function.Consumer;

/** Writes predictions in the order in which they come. */
final class PredictionWriter implements Consumer<Prediction> {

  private final PredictionFormat format;
  private final Writer out;
  private long samples;

  PredictionWriter(PredictionFormat format, Writer out) {
    this.format = format;
    this.out = out;
  }

  @Override
  public void accept(Prediction prediction) {
    try {
      if (samples == 0) {
        out.write(format.head(prediction));
      }
      out.write(format.line(samples, prediction));
      samples++;
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot write predictions", failure);
    }
  }

  long samples() {
    return samples;
  }
}
