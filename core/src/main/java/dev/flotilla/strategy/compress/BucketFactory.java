package dev.flotilla.strategy.compress;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.ParameterArena;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import java.lang.foreign.MemorySegment;
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

  BucketCompressor of(Bucket bucket) {
    var fields =
        division.compressedIn(bucket).stream().map(stretch -> field(bucket, stretch)).toList();
    return new CpuBucket(settings, rule, fields, Math.toIntExact(bucket.length()), ranks);
  }

  private Field field(Bucket bucket, Stretch stretch) {
    return new Field(
        Math.toIntExact(stretch.offset() - bucket.offset()),
        Math.toIntExact(stretch.length()),
        (float) (stretch.decay() / ranks),
        memory(arena.gradients().values(), stretch),
        memory(residuals.velocity(), stretch),
        memory(residuals.residual(), stretch),
        memory(arena.values(), stretch));
  }

  private static MemorySegment memory(Tensor whole, Stretch stretch) {
    try (var _ = TensorScope.open()) {
      return NativeView.of(whole)
          .asSlice(stretch.offset() * Float.BYTES, stretch.length() * Float.BYTES);
    }
  }
}
