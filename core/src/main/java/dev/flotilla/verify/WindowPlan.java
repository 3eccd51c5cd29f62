package dev.flotilla.verify;

import dev.flotilla.data.BatchSource;
import dev.flotilla.data.RankShard;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The few accumulation windows that are compared: some from the start of an epoch, the epoch's own
 * last one, and the first of the next epoch, so that an incomplete last window shows what becomes
 * of it.
 *
 * @param microBatches what the merged loop takes, in order
 * @param windows the same micro-batches, by the large batch they make
 */
record WindowPlan(List<MicroBatch> microBatches, List<List<MicroBatch>> windows) {

  static WindowPlan of(BatchSource source, int kSteps, int wanted) {
    var builder = new Builder(source, kSteps, wanted);
    for (int epoch = 0; builder.remaining() > 0; epoch++) {
      builder.addEpoch(epoch);
    }
    return new WindowPlan(builder.windows.stream().flatMap(List::stream).toList(), builder.windows);
  }

  /** Returns the large batches as what a loop without merging takes. */
  List<MicroBatch> largeBatches() {
    return windows.stream().map(WindowPlan::joined).toList();
  }

  private static MicroBatch joined(List<MicroBatch> parts) {
    var last = parts.getLast();
    return new MicroBatch(
        last.window(),
        last.epoch(),
        last.isLastOfEpoch(),
        last.window(),
        MicroBatch.samplesOf(parts));
  }

  int longest() {
    return windows.stream().mapToInt(List::size).max().orElse(0);
  }

  List<String> described() {
    return windows.stream().map(WindowPlan::description).toList();
  }

  private static String description(List<MicroBatch> window) {
    var sizes = window.stream().map(MicroBatch::size).toList();
    boolean same = sizes.stream().distinct().count() == 1;
    var shown =
        same
            ? (sizes.size() == 1 ? "1 micro-batch of " : sizes.size() + " micro-batches of ")
                + sizes.getFirst()
            : "micro-batches of "
                + sizes.stream().map(String::valueOf).collect(Collectors.joining(", "));
    return shown
        + " samples, epoch "
        + window.getFirst().epoch()
        + (window.getLast().isLastOfEpoch() ? ", its end" : "");
  }

  private static final class Builder {

    private final BatchSource source;
    private final int kSteps;
    private final int wanted;
    private final List<List<MicroBatch>> windows = new ArrayList<>();
    private int index;

    Builder(BatchSource source, int kSteps, int wanted) {
      this.source = source;
      this.kSteps = kSteps;
      this.wanted = wanted;
    }

    int remaining() {
      return wanted - windows.size();
    }

    void addEpoch(int epoch) {
      var shard = source.epoch(epoch, 0, 1);
      long full = (shard.batches() - 1) / kSteps;
      // Two are left for the end of this epoch and the start of the next one.
      long head = remaining() == 1 ? 1 : Math.max(1, remaining() - 2);
      for (long i = 0; i < Math.min(full, head); i++) {
        addWindow(epoch, shard, i * kSteps);
      }
      if (remaining() > 0) {
        addWindow(epoch, shard, full * kSteps);
      }
    }

    private void addWindow(int epoch, RankShard shard, long first) {
      List<MicroBatch> window = new ArrayList<>();
      for (long i = first; i < Math.min(first + kSteps, shard.batches()); i++) {
        boolean last = i + 1 == shard.batches();
        window.add(new MicroBatch(index++, epoch, last, windows.size(), shard.samples(i)));
      }
      windows.add(window);
    }
  }
}
