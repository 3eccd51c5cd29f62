package dev.flotilla.zoo.model;

import dev.flotilla.data.SampleForm;
import dev.flotilla.model.Classification;
import dev.flotilla.model.Model;
import dev.flotilla.model.Objective;
import dev.flotilla.model.Segment;
import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;
import dev.flotilla.settings.Summary;
import java.util.ArrayList;
import java.util.List;

/**
 * A chain of fully connected layers, {@code fc1} to {@code fcN}, over flattened inputs.
 *
 * @param inputs numbers per sample
 * @param hidden widths of the hidden layers
 * @param classes number of classes; for a regression, of the numbers to guess
 * @param dropout fraction of each hidden layer's outputs that are left out in training
 */
@Summary("Fully connected layers over flattened inputs.")
public record Mlp(
    @Setting(doc = "numbers per sample, at least 1", def = "1024") int inputs,
    @Setting(doc = "widths of the hidden layers, each at least 1", def = "[128]")
        List<Integer> hidden,
    @Setting(doc = "number of classes, or of numbers for a regression, at least 1", def = "10")
        int classes,
    @Setting(doc = "fraction of hidden outputs left out in training, in [0, 1)", def = "0")
        double dropout)
    implements Model {

  /** Returns a chain without dropout. */
  public Mlp(int inputs, List<Integer> hidden, int classes) {
    this(inputs, hidden, classes, 0);
  }

  /** Checks the settings. */
  public Mlp {
    hidden = List.copyOf(hidden);
    boolean widthsArePositive = hidden.stream().allMatch(width -> width >= 1);
    Check.that(inputs >= 1, "inputs", "must be at least 1", inputs)
        .and(widthsArePositive, "hidden", "must hold numbers of at least 1", hidden)
        .and(classes >= 1, "classes", "must be at least 1", classes)
        .and(dropout >= 0 && dropout < 1, "dropout", "must be in [0, 1)", dropout)
        .orThrow();
  }

  @Override
  public String name() {
    return "mlp";
  }

  @Override
  public boolean isRecordable() {
    return true;
  }

  @Override
  public List<Segment> segments() {
    List<Segment> segments = new ArrayList<>();
    long width = inputs;
    for (int next : hidden) {
      segments.add(new LinearSegment("fc" + (segments.size() + 1), width, next, false, dropout));
      width = next;
    }
    segments.add(new LinearSegment("fc" + (segments.size() + 1), width, classes, true, 0));
    return segments;
  }

  @Override
  public Objective objective() {
    return new Classification();
  }

  @Override
  public void checkSamples(SampleForm form) {
    SampleCheck.flattened(form, inputs, classes);
  }
}
