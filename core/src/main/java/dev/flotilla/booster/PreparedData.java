package dev.flotilla.booster;

import dev.flotilla.data.Batch;
import dev.flotilla.data.BatchLoader;
import dev.flotilla.data.BatchSource;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.world.World;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.stream.Stream;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * One rank's part of training data, loaded a little ahead of the loop that asks for it.
 *
 * <p>A batch lives until the next one is asked for. One epoch is under way at a time; to leave it
 * early is allowed.
 */
public final class PreparedData {

  private final BatchSource source;
  private final World world;
  private final boolean isPinned;
  private @Nullable EpochBatches current;

  PreparedData(BatchSource source, World world, boolean isPinned) {
    this.source = source;
    this.world = world;
    this.isPinned = isPinned;
  }

  /** Returns the number of batches of an epoch, the same on all ranks. */
  public long batches() {
    return source.batchesPerEpoch(world.size());
  }

  /** Returns this rank's batches of an epoch, some possibly empty where the last one is small. */
  public Iterable<Batch> epoch(long epoch) {
    return epoch(epoch, 0);
  }

  /**
   * Returns this rank's batches of an epoch from one of them on, for a loop that goes on where it
   * was.
   *
   * @throws IllegalArgumentException if there is no such batch, nor an end at this place
   */
  public Iterable<Batch> epoch(long epoch, long from) {
    if (epoch < 0 || from < 0 || from > batches()) {
      throw new IllegalArgumentException(
          "epoch must be at least 0 and the first batch in [0, %d], but they were %d and %d"
              .formatted(batches(), epoch, from));
    }
    return () -> start(epoch, from);
  }

  private EpochBatches start(long epoch, long from) {
    close();
    var shard = source.epoch(epoch, world.rank(), world.size());
    var started = new EpochBatches(shard.loader().pinned(isPinned), from, shard.batches());
    current = started;
    return started;
  }

  /** Frees what is under way. */
  void close() {
    if (current != null) {
      current.close();
      current = null;
    }
  }

  /** The batches of an epoch that is under way. */
  private static final class EpochBatches implements Iterator<Batch> {

    private final BatchLoader loader;
    private final long end;
    private long next;
    private @Nullable Batch held;

    EpochBatches(BatchLoader loader, long from, long end) {
      this.loader = loader;
      this.next = from;
      this.end = end;
    }

    @Override
    public boolean hasNext() {
      if (next >= end) {
        close();
      }
      return next < end;
    }

    @Override
    public Batch next() {
      if (!hasNext()) {
        throw new NoSuchElementException("the epoch has %d batches".formatted(end));
      }
      release();
      // The batch must outlive this call, whatever scopes the caller has.
      try (var _ = TensorScope.open()) {
        var batch = loader.load(next++);
        if (!batch.isEmpty()) {
          batch.inputs().forEach(TensorScope::keep);
          targets(batch).forEach(TensorScope::keep);
          held = batch;
        }
        return batch;
      }
    }

    /** Targets may lie in two places. */
    private static Stream<Tensor> targets(Batch batch) {
      return batch.allTargets().equals(batch.allHostTargets())
          ? batch.allTargets().stream()
          : Stream.concat(batch.allTargets().stream(), batch.allHostTargets().stream());
    }

    private void release() {
      if (held != null) {
        held.inputs().forEach(TensorScope::free);
        targets(held).forEach(TensorScope::free);
        held = null;
      }
    }

    void close() {
      next = end;
      release();
      loader.close();
    }
  }
}
