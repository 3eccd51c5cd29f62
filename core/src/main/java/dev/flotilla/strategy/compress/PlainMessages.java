package dev.flotilla.strategy.compress;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/** Messages of int32 indices and float32 values, which the device itself reads and writes. */
final class PlainMessages implements DeviceMessages {

  private final int capacity;
  private final int ranks;
  private final Tensor own;
  private final Tensor all;

  PlainMessages(WireFormat format, int ranks, ComputeDevice device) {
    this.capacity = format.capacity();
    this.ranks = ranks;
    try (var _ = TensorScope.open()) {
      long words = format.words();
      own = TensorScope.keep(device.zeros(torch.ScalarType.Int, words));
      all = TensorScope.keep(device.zeros(torch.ScalarType.Int, words * ranks));
    }
  }

  @Override
  public Tensor message() {
    return own;
  }

  @Override
  public Tensor messages() {
    return all;
  }

  @Override
  public void write(Tensor indices, Tensor values) {
    try (var _ = TensorScope.open()) {
      long count = indices.numel();
      own.narrow(0, 0, count).copy_(indices);
      own.narrow(0, count, capacity - count).fill_(new Scalar(-1L));
      own.narrow(0, capacity, count).copy_(values.view(torch.ScalarType.Int));
    }
  }

  @Override
  public List<Entries> read() {
    try (var _ = TensorScope.open()) {
      var byRank = all.view(ranks, 2L * capacity);
      var counts = counts(byRank.narrow(1, 0, capacity));
      List<Entries> entries = new ArrayList<>();
      for (int rank = 0; rank < ranks; rank++) {
        var sent = byRank.select(0, rank);
        entries.add(
            new Entries(
                TensorScope.keep(sent.narrow(0, 0, counts[rank]).to(torch.ScalarType.Long)),
                TensorScope.keep(
                    sent.narrow(0, capacity, counts[rank]).view(torch.ScalarType.Float))));
      }
      return entries;
    }
  }

  /** One wait for the device, whatever the number of ranks; most messages are full. */
  private long[] counts(Tensor indices) {
    var last =
        NativeView.of(indices.select(1, capacity - 1).contiguous().cpu())
            .toArray(ValueLayout.JAVA_INT);
    if (Arrays.stream(last).allMatch(index -> index >= 0)) {
      var counts = new long[ranks];
      Arrays.fill(counts, capacity);
      return counts;
    }
    return NativeView.of(indices.ge(new Scalar(0L)).sum(1).cpu()).toArray(ValueLayout.JAVA_LONG);
  }

  @Override
  public void close() {
    TensorScope.free(own);
    TensorScope.free(all);
  }
}
