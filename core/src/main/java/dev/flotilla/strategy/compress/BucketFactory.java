package dev.flotilla.strategy.compress;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.ParameterArena;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.lang.foreign.MemorySegment;
import java.util.stream.LongStream;
import org.bytedeco.pytorch.Tensor;

/**
 * Makes the compressors of buckets, for the device where the arena lies.
 *
 * @param settings what the user asked for
 * @param rule the momentum inside the compression
 * @param arena parameters and gradients
 * @param residuals what the rank keeps
 * @param division what is compressed
 * @param ranks number of ranks
 */
record BucketFactory(
    Dgc settings,
    Rule rule,
    ParameterArena arena,
    Residuals residuals,
    Division division,
    int ranks) {

  BucketCompressor of(Bucket.Range bucket) {
    return arena.values().is_cuda() ? onDevice(bucket) : inPlace(bucket);
  }

  private BucketCompressor inPlace(Bucket.Range bucket) {
    var fields = division.compressedIn(bucket).stream().map(slice -> field(bucket, slice)).toList();
    return new CpuBucket(settings, rule, fields, Math.toIntExact(bucket.length()), ranks);
  }

  private BucketCompressor onDevice(Bucket.Range bucket) {
    var slices = division.compressedIn(bucket);
    boolean isNone = slices.isEmpty();
    long start = isNone ? bucket.offset() : slices.getFirst().offset();
    var range = new ArenaSlice(start, isNone ? 0 : slices.getLast().end() - start, 0);
    var decays =
        slices.stream()
            .map(it -> new ArenaSlice(it.offset() - start, it.length(), it.decay() / ranks))
            .toList();
    try (var _ = TensorScope.open()) {
      var field =
          new DeviceField(
              Math.toIntExact(start - bucket.offset()),
              part(arena.gradients().values(), range),
              part(residuals.velocity(), range),
              part(residuals.residual(), range),
              part(arena.values(), range),
              decays,
              TensorScope.keep(smallOnesIn(range)));
      return new DeviceBucket(settings, rule, field, Math.toIntExact(bucket.length()), ranks);
    }
  }

  private static Tensor part(Tensor whole, ArenaSlice range) {
    return TensorScope.keep(whole.narrow(0, range.offset(), range.length()));
  }

  /** Returns the indices of small parameters in a range, counted from its start. */
  private Tensor smallOnesIn(ArenaSlice range) {
    var indices =
        division.dense().stream()
            .map(it -> it.between(range.offset(), range.end()))
            .flatMapToLong(it -> LongStream.range(it.offset(), it.end()))
            .map(index -> index - range.offset())
            .toArray();
    return ComputeDevice.of(arena.values()).bring(Tensors.ofLongs(indices));
  }

  private Field field(Bucket.Range bucket, ArenaSlice slice) {
    return new Field(
        Math.toIntExact(slice.offset() - bucket.offset()),
        (float) (slice.decay() / ranks),
        memory(arena.gradients().values(), slice),
        memory(residuals.velocity(), slice),
        memory(residuals.residual(), slice),
        memory(arena.values(), slice));
  }

  private static MemorySegment memory(Tensor whole, ArenaSlice slice) {
    try (var _ = TensorScope.open()) {
      return NativeView.of(whole)
          .asSlice(slice.offset() * Float.BYTES, slice.length() * Float.BYTES);
    }
  }
}
