package dev.flotilla.strategy.compress;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.ParameterArena;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

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
    return arena.values().is_cuda() ? staged(bucket) : inPlace(bucket);
  }

  private BucketCompressor inPlace(Bucket bucket) {
    var fields =
        division.compressedIn(bucket).stream().map(stretch -> field(bucket, stretch)).toList();
    return compressor(bucket, fields);
  }

  private BucketCompressor compressor(Bucket bucket, List<Field> fields) {
    return new CpuBucket(settings, rule, fields, Math.toIntExact(bucket.length()), ranks);
  }

  private BucketCompressor staged(Bucket bucket) {
    List<StagedBucket.Stage> stages = new ArrayList<>();
    List<Field> fields = new ArrayList<>();
    for (var stretch : division.compressedIn(bucket)) {
      var stage =
          new StagedBucket.Stage(
              mirror(arena.gradients().values(), stretch),
              mirror(residuals.velocity(), stretch),
              mirror(residuals.residual(), stretch),
              mirror(arena.values(), stretch));
      stages.add(stage);
      fields.add(
          new Field(
              Math.toIntExact(stretch.offset() - bucket.offset()),
              (float) (stretch.decay() / ranks),
              NativeView.of(stage.gradient().host()),
              NativeView.of(stage.velocity().host()),
              NativeView.of(stage.residual().host()),
              NativeView.of(stage.weight().host())));
    }
    return new StagedBucket(compressor(bucket, fields), stages);
  }

  private static StagedBucket.Mirror mirror(Tensor whole, Stretch stretch) {
    try (var _ = TensorScope.open()) {
      var device = TensorScope.keep(whole.narrow(0, stretch.offset(), stretch.length()));
      var host = Tensors.zeros(torch.ScalarType.Float, stretch.length());
      return new StagedBucket.Mirror(device, TensorScope.keep(host.pin_memory()));
    }
  }

  private Field field(Bucket bucket, Stretch stretch) {
    return new Field(
        Math.toIntExact(stretch.offset() - bucket.offset()),
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
