package dev.flotilla.data;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Samples that are objects of the program. */
final class ListDataset<T> implements Dataset {

  private final List<T> objects;
  private final Encoding<T> encoding;
  private final int @Nullable [] labels;
  private final int @Nullable [] lengths;

  /** Reads labels and lengths of sequences, so that a wrong one is found before training. */
  ListDataset(List<T> objects, Encoding<T> encoding) {
    if (objects.isEmpty()) {
      throw new IllegalArgumentException(
          "a data set needs at least one sample, but the list is empty");
    }
    this.objects = List.copyOf(objects);
    this.encoding = encoding.fixedBy(objects.getFirst(), 0);
    labels = encoding.labels().map(field -> each(field::label)).orElse(null);
    lengths = encoding.tokens().map(field -> each(field::length)).orElse(null);
  }

  /** Gives a number for a sample. */
  private interface Reader<T> {
    int read(T object, long number);
  }

  private int[] each(Reader<T> reader) {
    var values = new int[objects.size()];
    Arrays.setAll(values, i -> reader.read(objects.get(i), i));
    return values;
  }

  @Override
  public int size() {
    return objects.size();
  }

  @Override
  public Batch load(int[] samples) {
    List<T> chosen = new ArrayList<>(samples.length);
    for (int sample : samples) {
      chosen.add(objects.get(sample));
    }
    return encoding.encode(chosen, Arrays.stream(samples).asLongStream().toArray());
  }

  @Override
  public int tokens(int sample) {
    return lengths == null ? 1 : lengths[sample];
  }

  @Override
  public int[] labels() {
    return labels == null ? Dataset.super.labels() : labels.clone();
  }
}
