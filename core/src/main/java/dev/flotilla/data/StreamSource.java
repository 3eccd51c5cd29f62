package dev.flotilla.data;

import java.util.OptionalLong;
import java.util.function.LongFunction;
import java.util.stream.Stream;

/**
 * Samples that come one after the other, nobody knows how many: lines of a file, rows of a query.
 *
 * <p>Every rank reads the whole stream, makes numbers of its own part of each global batch, and
 * lets go of the rest: each sample is seen once, by one rank, and all ranks end together without
 * asking each other. So the stream must give the same objects in the same order on every rank, and
 * again when a run goes on, which passes over what was seen. Memory holds the shuffle buffer and a
 * few batches, however long the stream is.
 *
 * <pre>{@code
 * StreamSource.of(_ -> database.rows(), encoding, 64).shuffled(42, 10_000)
 * }</pre>
 *
 * <p>Immutable.
 */
public final class StreamSource<T> implements EpochSource {

  private final LongFunction<? extends Stream<T>> open;
  private final Encoding<T> encoding;
  private final int globalBatch;
  private final long seed;
  private final int buffer;
  private final boolean dropsLast;

  private StreamSource(
      LongFunction<? extends Stream<T>> open,
      Encoding<T> encoding,
      int globalBatch,
      long seed,
      int buffer,
      boolean dropsLast) {
    BatchSource.requirePositive(globalBatch);
    this.open = open;
    this.encoding = encoding;
    this.globalBatch = globalBatch;
    this.seed = seed;
    this.buffer = buffer;
    this.dropsLast = dropsLast;
  }

  /**
   * Takes a fixed number of samples per step, divided over the ranks.
   *
   * @param open opens the objects of an epoch, whose number from 0 it is given; the stream is
   *     closed when it has ended or is not needed any more
   */
  public static <T> StreamSource<T> of(
      LongFunction<? extends Stream<T>> open, Encoding<T> encoding, int globalBatch) {
    return new StreamSource<>(open, encoding, globalBatch, 0, 1, false);
  }

  /**
   * Returns this source with samples that leave a buffer at random, each replaced by the next of
   * the stream. The order is a function of the stream, the seed, the epoch and the buffer.
   *
   * @param samples how many the buffer holds; the larger, the more they are mixed
   */
  public StreamSource<T> shuffled(long newSeed, int samples) {
    if (samples < 2) {
      throw new IllegalArgumentException(
          "a buffer needs at least 2 samples to shuffle, but was to have " + samples);
    }
    return new StreamSource<>(open, encoding, globalBatch, newSeed, samples, dropsLast);
  }

  /** Returns this source without the last batch of an epoch where that is smaller. */
  public StreamSource<T> dropLast() {
    return new StreamSource<>(open, encoding, globalBatch, seed, buffer, true);
  }

  @Override
  public int globalBatch(int ranks) {
    return globalBatch;
  }

  @Override
  public OptionalLong knownBatches(int ranks) {
    return OptionalLong.empty();
  }

  @Override
  public OptionalLong knownSamples(int ranks) {
    return OptionalLong.empty();
  }

  @Override
  public RankShard epoch(long epoch, int rank, int ranks) {
    return new StreamedShard<>(
        () -> new ShuffledStream<>(open.apply(epoch), buffer, EpochOrder.random(seed, epoch)),
        encoding,
        new StreamedShard.Cut(globalBatch, dropsLast, rank, ranks),
        epoch);
  }

  @Override
  public String order() {
    return "a stream "
        + (buffer == 1
            ? "in its order"
            : "shuffled with seed %d in a buffer of %d".formatted(seed, buffer))
        + (dropsLast ? ", without a smaller last batch" : "");
  }

  @Override
  public boolean orderDependsOnBatch() {
    return false;
  }
}
