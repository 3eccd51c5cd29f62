package dev.flotilla.strategy.shard;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.Bucket.Range;
import dev.flotilla.arena.Gradients;
import dev.flotilla.arena.KeptSlices;
import dev.flotilla.arena.ParameterArena;
import dev.flotilla.arena.Slot;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Pending;
import dev.flotilla.collective.RankSlices;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.exchange.Exchange;
import dev.flotilla.exchange.Stage;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.strategy.shard.Slicing.Unit;
import dev.flotilla.wire.ReduceScatter;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.bytedeco.pytorch.Tensor;

/**
 * Takes the gradients that backward leaves at parameters, and adds the sums over ranks to the
 * slices that this rank keeps; what has been sent is freed.
 *
 * <p>Sends (n − 1) / n of the arena's bytes per rank and micro-step, or half of that in 16 bits. A
 * bucket goes in chunks, each a part of all its slices. One under way takes its size twice: packed,
 * and received.
 */
final class SliceExchange implements Exchange {

  private final Collective collective;
  private final Slicing slicing;
  private final ParameterArena arena;
  private final ReduceScatter sum;
  private final KeptSlices kept;
  private final Map<Slot, Long> sent = new HashMap<>();

  SliceExchange(Collective collective, Slicing slicing, ParameterArena arena, ReduceScatter sum) {
    this.collective = collective;
    this.slicing = slicing;
    this.arena = arena;
    this.sum = sum;
    kept = arena.gradients().kept().orElseThrow();
  }

  @Override
  public void begin(Gradients gradients) {
    try (var _ = TensorScope.open()) {
      collective.allReduce(gradients.tail(), Reduction.SUM, Traffic.SCALAR).await();
    }
  }

  @Override
  public List<Stage> reduce(Gradients gradients, Bucket bucket) {
    var units = slicing.in(bucket.range());
    int count = Slicing.chunks(bucket.range().length());
    return Stage.ofParts(
        IntStream.range(0, count)
            .mapToObj(i -> new Chunk(bucket, units, i, count))
            .map(chunk -> List.<Supplier<Pending>>of(() -> scatter(chunk)))
            .toList());
  }

  /** A part of every slice of a bucket. */
  private record Chunk(Bucket bucket, List<Unit> units, int index, int count) {

    /** Returns where its part of a slice begins. */
    long from(long length) {
      return length * index / count;
    }

    Range of(Range slice) {
      long from = from(slice.length());
      long end = slice.length() * (index + 1) / count;
      return new Range(slice.offset() + from, end - from);
    }

    RankSlices slices(int ranks) {
      var lengths = new long[ranks];
      Arrays.setAll(
          lengths, rank -> units.stream().mapToLong(unit -> of(unit.of(rank)).length()).sum());
      return RankSlices.of(lengths);
    }

    boolean isLast() {
      return index == count - 1;
    }
  }

  private Pending scatter(Chunk chunk) {
    if (chunk.bucket().index() == 0 && chunk.index() == 0) {
      // A pass that failed may have sent some pieces of a gradient and not the others.
      sent.clear();
    }
    var slices = chunk.slices(collective.size());
    Tensor packed = TensorScope.keep(arena.empty(slices.elements()));
    Tensor sums = TensorScope.keep(arena.empty(slices.length(collective.rank())));
    try {
      pack(chunk, slices, packed);
      var arrival = sum.start(sums, packed, slices, Traffic.EXCHANGE);
      return () -> {
        try (var _ = TensorScope.open()) {
          arrival.await();
          add(chunk, sums);
          if (chunk.bucket().isLast() && chunk.isLast()) {
            kept.settle();
          }
        } finally {
          TensorScope.free(packed);
          TensorScope.free(sums);
        }
      };
    } catch (RuntimeException failure) {
      TensorScope.free(packed);
      TensorScope.free(sums);
      throw failure;
    }
  }

  private void pack(Chunk chunk, RankSlices slices, Tensor packed) {
    var bucket = chunk.bucket();
    for (int rank = 0; rank < collective.size(); rank++) {
      long at = slices.offset(rank);
      for (var unit : chunk.units()) {
        var range = chunk.of(unit.of(rank));
        if (range.length() > 0) {
          copy(bucket, range, packed.narrow(0, at, range.length()));
          at += range.length();
        }
      }
    }
    if (chunk.isLast()) {
      bucket.parameters().forEach(slot -> dropIfSent(slot, bucket.range()));
    }
  }

  /** Copies what backward has left of a part of the arena; gaps, and what it left out, are zero. */
  private void copy(Bucket bucket, Range range, Tensor place) {
    long done = range.offset();
    for (var slot : bucket.parameters()) {
      var piece = slot.range().common(range);
      var gradient = piece.length() > 0 ? arena.leaves().of(slot) : Optional.<Tensor>empty();
      if (gradient.isPresent()) {
        zero(place, range, done, piece.offset());
        piece.of(place, range.offset()).copy_(piece.of(gradient.get(), slot.offset()));
        done = piece.end();
      }
    }
    zero(place, range, done, range.end());
  }

  private static void zero(Tensor place, Range range, long from, long to) {
    if (from < to) {
      place.narrow(0, from - range.offset(), to - from).zero_();
    }
  }

  /** One that is cut goes with its last piece. */
  private void dropIfSent(Slot slot, Range range) {
    long piece = slot.range().common(range).length();
    if (sent.merge(slot, piece, Long::sum) == slot.length()) {
      sent.remove(slot);
      arena.leaves().drop(slot);
    }
  }

  private void add(Chunk chunk, Tensor sums) {
    long at = 0;
    for (var unit : chunk.units()) {
      var slice = unit.of(collective.rank());
      long length = chunk.of(slice).length();
      kept.add(slice, chunk.from(slice.length()), sums.narrow(0, at, length));
      at += length;
    }
  }
}
