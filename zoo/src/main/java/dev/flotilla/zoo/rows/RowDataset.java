package dev.flotilla.zoo.rows;

import dev.flotilla.data.Batch;
import dev.flotilla.data.Dataset;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.Tensors;
import dev.flotilla.zoo.data.DataProblem;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import org.bytedeco.pytorch.global.torch;

/** Rows of mapped files: float32 [n, columns], with classes int64 [n]. A batch is a copy. */
final class RowDataset implements Dataset {

  private static final ValueLayout.OfInt CLASS =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final List<RowShard> shards;
  private final List<MemorySegment> bytes;
  private final int[] firsts;
  private final int columns;
  private final int classes;

  /** Opens files, which stay mapped for as long as the process lives. */
  RowDataset(List<RowShard> shards, int columns, int classes) {
    this.shards = shards.stream().filter(shard -> shard.rows() > 0).toList();
    this.bytes = this.shards.stream().map(shard -> shard.open(Arena.ofAuto())).toList();
    this.columns = columns;
    this.classes = classes;
    this.firsts = new int[this.shards.size() + 1];
    for (int i = 0; i < this.shards.size(); i++) {
      firsts[i + 1] = Math.addExact(firsts[i], this.shards.get(i).rows());
    }
  }

  @Override
  public int size() {
    return firsts[firsts.length - 1];
  }

  @Override
  public Batch load(int[] samples) {
    var rows = Tensors.empty(torch.ScalarType.Float, samples.length, columns);
    var target = NativeView.of(rows);
    var labels = new long[samples.length];
    long numbers = (long) columns * Float.BYTES;
    for (int i = 0; i < samples.length; i++) {
      int shard = shardOf(samples[i]);
      long at = (samples[i] - firsts[shard]) * (numbers + Integer.BYTES);
      MemorySegment.copy(bytes.get(shard), at, target, i * numbers, numbers);
      labels[i] = label(shard, at + numbers, samples[i]);
    }
    return new Batch(List.of(rows), Tensors.ofLongs(labels), samples.length);
  }

  private int shardOf(int sample) {
    int found = Arrays.binarySearch(firsts, sample);
    return found >= 0 ? found : -found - 2;
  }

  private long label(int shard, long at, int sample) {
    int label = bytes.get(shard).get(CLASS, at);
    if (label < 0 || label >= classes) {
      throw DataProblem.at(
          shards.get(shard).file(),
          "row " + (sample - firsts[shard]),
          "its class is %d, but there are %d classes".formatted(label, classes),
          "");
    }
    return label;
  }
}
