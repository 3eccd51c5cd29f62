package dev.flotilla.data;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What one rank sees of one epoch of a stream.
 *
 * <p>Whoever asks for a batch has the stream read up to it; what was read and not loaded yet waits
 * here, which is no more than a loader is ahead. Asked for a batch that is gone, it starts the
 * stream anew and passes over what lies before.
 */
final class StreamedShard<T> implements RankShard {

  /**
   * How a stream is cut.
   *
   * @param batch samples of a global batch
   * @param dropsLast whether a smaller last one is left out
   */
  record Cut(int batch, boolean dropsLast, int rank, int ranks) {}

  private final Supplier<ShuffledStream<T>> open;
  private final Cut cut;
  private final long epoch;
  private final Map<Long, List<ShuffledStream.Numbered<T>>> waiting = new HashMap<>();
  private Encoding<T> encoding;
  private boolean isEncodingFixed;
  private @Nullable ShuffledStream<T> stream;
  private boolean hasEnded;
  private long batchesRead;
  private int lastSize;

  StreamedShard(Supplier<ShuffledStream<T>> open, Encoding<T> encoding, Cut cut, long epoch) {
    this.open = open;
    this.encoding = encoding;
    this.cut = cut;
    this.epoch = epoch;
    var _ = Part.of(cut.batch(), cut.rank(), cut.ranks());
  }

  @Override
  public long batches() {
    throw new IllegalStateException(
        "a stream does not tell how many batches it has: ask has(index) and isLast(index)");
  }

  @Override
  public synchronized boolean has(long index) {
    readTo(index);
    waiting.keySet().removeIf(earlier -> earlier < index - 1);
    return index < batchesRead;
  }

  @Override
  public synchronized int globalSize(long index) {
    if (!has(index)) {
      throw new IndexOutOfBoundsException(
          "the epoch has %d batches, so that there is none of number %d"
              .formatted(batchesRead, index));
    }
    return hasEnded && index + 1 == batchesRead ? lastSize : cut.batch();
  }

  @Override
  public int[] samples(long index) {
    throw new IllegalStateException("samples of a stream have no numbers by which to load them");
  }

  /** Batches after the end, which a loader may ask for ahead, are empty. */
  @Override
  public Batch load(long index) {
    var own = take(index);
    if (own.isEmpty()) {
      return Batch.empty();
    }
    return encoding()
        .encode(
            own.stream().map(ShuffledStream.Numbered::object).toList(),
            own.stream().mapToLong(ShuffledStream.Numbered::number).toArray());
  }

  private synchronized Encoding<T> encoding() {
    return encoding;
  }

  private synchronized List<ShuffledStream.Numbered<T>> take(long index) {
    if (index < batchesRead && !waiting.containsKey(index)) {
      restart();
    }
    readTo(index);
    waiting.keySet().removeIf(earlier -> earlier < index);
    return Objects.requireNonNullElse(waiting.remove(index), List.of());
  }

  /** Forgets what was read; the stream is opened anew if more is asked for. */
  private synchronized void restart() {
    close();
    hasEnded = false;
    batchesRead = 0;
    waiting.clear();
  }

  /**
   * Reads up to a batch. Where none waits before it, those in between are passed over, but for the
   * one before it: whoever asks whether that is the last one has yet to load it.
   */
  private void readTo(long index) {
    boolean isSkipping = waiting.isEmpty();
    while (!hasEnded && batchesRead <= index) {
      var batch = nextBatch();
      boolean isLeftOut = batch.size() < cut.batch() && cut.dropsLast();
      if (!batch.isEmpty() && !isLeftOut) {
        if (!isSkipping || batchesRead >= index - 1) {
          var part = Part.of(batch.size(), cut.rank(), cut.ranks());
          waiting.put(batchesRead, List.copyOf(batch.subList(part.from(), part.to())));
        }
        batchesRead++;
        lastSize = batch.size();
      }
    }
    if (hasEnded && batchesRead == 0) {
      throw new IllegalArgumentException(
          "epoch %d of the stream has no %s: give it samples"
              .formatted(epoch, cut.dropsLast() ? "full batch" : "sample"));
    }
  }

  private List<ShuffledStream.Numbered<T>> nextBatch() {
    if (stream == null) {
      stream = open.get();
    }
    List<ShuffledStream.Numbered<T>> batch = new ArrayList<>();
    while (batch.size() < cut.batch() && stream.hasNext()) {
      batch.add(stream.next());
    }
    if (!isEncodingFixed && !batch.isEmpty()) {
      encoding = encoding.fixedBy(batch.getFirst().object(), batch.getFirst().number());
      isEncodingFixed = true;
    }
    if (!stream.hasNext()) {
      hasEnded = true;
      close();
    }
    return batch;
  }

  private void close() {
    if (stream != null) {
      stream.close();
      stream = null;
    }
  }

  @Override
  public BatchLoader loader() {
    // One thread: a stream is read in its order.
    return new BatchLoader(this::load, _ -> true, 1).closing(this::restart);
  }
}
