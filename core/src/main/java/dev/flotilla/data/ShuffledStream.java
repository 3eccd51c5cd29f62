package dev.flotilla.data;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/** The objects of a stream, which leave a buffer at random. */
final class ShuffledStream<T> implements AutoCloseable {

  /**
   * An object and its place in the stream.
   *
   * @param number from 0, before it was shuffled
   */
  record Numbered<T>(T object, long number) {}

  private final Stream<T> stream;
  private final Iterator<T> objects;
  private final int size;
  private final SplittableRandom random;
  private final List<Numbered<T>> buffer = new ArrayList<>();
  private long read;

  ShuffledStream(Stream<T> stream, int size, SplittableRandom random) {
    this.stream = stream;
    this.objects = stream.iterator();
    this.size = size;
    this.random = random;
  }

  boolean hasNext() {
    return !buffer.isEmpty() || objects.hasNext();
  }

  Numbered<T> next() {
    while (buffer.size() < size && objects.hasNext()) {
      long number = read++;
      buffer.add(
          new Numbered<>(
              Objects.requireNonNull(
                  objects.next(), () -> "sample %d of the stream is null".formatted(number)),
              number));
    }
    int chosen = size == 1 ? 0 : EpochOrder.below(buffer.size(), random);
    var last = buffer.removeLast();
    return chosen == buffer.size() ? last : buffer.set(chosen, last);
  }

  @Override
  public void close() {
    stream.close();
  }
}
