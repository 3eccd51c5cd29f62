package dev.flotilla.data;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.bytedeco.pytorch.global.torch;

/** Chooses samples of a data set, and looks at all of them. */
final class Samples {

  /** The epoch whose order decides how a data set is divided. */
  static final long SPLIT = -2;

  private static final double TOLERANCE = 1e-9;
  private static final int AT_ONCE = 256;

  private Samples() {}

  static Dataset subset(Dataset data, int[] samples) {
    if (samples.length == 0) {
      throw new IllegalArgumentException("a subset needs at least one sample, but none is chosen");
    }
    for (int sample : samples) {
      if (sample < 0 || sample >= data.size()) {
        throw new IllegalArgumentException(
            "samples must be in [0, %d), but one is %d".formatted(data.size(), sample));
      }
    }
    return new Subset(data, samples.clone());
  }

  /** Cuts an order into parts, and puts each part into the order of the data set. */
  static List<Dataset> split(Dataset data, int[] order, double[] fractions) {
    requireFractions(fractions);
    List<Dataset> parts = new ArrayList<>();
    double sum = 0;
    int from = 0;
    for (int i = 0; i < fractions.length; i++) {
      sum += fractions[i];
      boolean isLast = i + 1 == fractions.length;
      int to = isLast ? order.length : (int) Math.round(sum * order.length);
      if (to <= from) {
        throw new IllegalArgumentException(
            "part %d would be empty: a fraction of %s of %d samples; make it larger, or leave it out"
                .formatted(i, fractions[i], order.length));
      }
      parts.add(subset(data, Arrays.stream(order, from, to).sorted().toArray()));
      from = to;
    }
    return parts;
  }

  private static void requireFractions(double[] fractions) {
    boolean areFractions = Arrays.stream(fractions).allMatch(it -> it > 0 && it <= 1);
    double sum = Arrays.stream(fractions).sum();
    if (!areFractions || Math.abs(sum - 1) > TOLERANCE) {
      throw new IllegalArgumentException(
          "fractions must be above 0 and add up to 1, but are %s, with a sum of %s"
              .formatted(Arrays.toString(fractions), sum));
    }
  }

  /** Called with samples that are loaded together. */
  private interface Visitor {
    void visit(Batch batch, int[] samples);
  }

  private static void visitAll(Dataset data, Visitor visitor) {
    for (int from = 0; from < data.size(); from += AT_ONCE) {
      int[] samples = IntStream.range(from, Math.min(data.size(), from + AT_ONCE)).toArray();
      try (var _ = TensorScope.open()) {
        visitor.visit(data.load(samples), samples);
      }
    }
  }

  /** Returns the numbers of those samples of which something is true. */
  static int[] matching(Dataset data, Predicate<Batch> wanted) {
    var found = IntStream.builder();
    visitAll(
        data,
        (batch, samples) -> {
          var ones = batch.split(samples.length);
          for (int i = 0; i < samples.length; i++) {
            if (MappedDataset.ask("filter", wanted::test, ones.get(i), samples[i])) {
              found.add(samples[i]);
            }
          }
        });
    int[] all = found.build().toArray();
    if (all.length == 0) {
      throw new IllegalArgumentException(
          "filter leaves none of %d samples: look at what it asks for".formatted(data.size()));
    }
    return all;
  }

  /** Reads the class of each sample from the targets. */
  static int[] labels(Dataset data) {
    var labels = new int[data.size()];
    visitAll(
        data,
        (batch, samples) -> {
          var targets = batch.allTargets();
          if (targets.size() != 1
              || targets.getFirst().dim() != 1
              || targets.getFirst().scalar_type().intern() != torch.ScalarType.Long) {
            throw new IllegalArgumentException(
                "samples have no labels: targets must be one int64 number for each, its class");
          }
          long[] read = Tensors.toLongs(targets.getFirst());
          for (int i = 0; i < read.length; i++) {
            labels[samples[i]] = Math.toIntExact(read[i]);
          }
        });
    return labels;
  }
}
