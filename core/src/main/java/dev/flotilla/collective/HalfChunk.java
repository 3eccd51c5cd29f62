package dev.flotilla.collective;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.util.Objects;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/** One chunk of a sum in 16 bits, on its way out, added up, and on its way back. */
final class HalfChunk implements AutoCloseable {

  private final Collective collective;
  private final HalfCode code;
  private final Tensor out;
  private final Tensor in;
  private final Tensor sum;
  private @Nullable Tensor values;
  private Pending pending = Pending.DONE;

  HalfChunk(Collective collective, Wire wire, long longest) {
    this.collective = collective;
    int size = collective.size();
    long slice = sliceOf(longest);
    try (var _ = TensorScope.open()) {
      code = new HalfCode(wire, slice);
      out = TensorScope.keep(Tensors.zeros(wire.scalarType(), size * code.length(slice)));
      in = TensorScope.keep(Tensors.zeros(wire.scalarType(), size * code.length(slice)));
      sum = TensorScope.keep(Tensors.zeros(torch.ScalarType.Float, slice));
    }
  }

  private long sliceOf(long length) {
    return (length + collective.size() - 1) / collective.size();
  }

  /** Starts to send each rank its slice. */
  void scatter(Tensor chunk, Traffic traffic) {
    forgetValues();
    values = TensorScope.keep(chunk);
    for (int rank = 0; rank < collective.size(); rank++) {
      code.encode(slice(rank), row(out, rank));
    }
    pending = collective.allToAll(sent(in), sent(out), traffic);
  }

  /** Adds up this rank's slice, and starts to send it to all. */
  void addUp(Traffic traffic) {
    pending.await();
    var own = slice(collective.rank());
    var total = sum.narrow(0, 0, own.numel());
    for (int rank = 0; rank < collective.size(); rank++) {
      code.decode(row(in, rank), total, rank > 0);
    }
    code.encode(total, row(out, 0));
    pending = collective.allGather(sent(in), row(out, 0), traffic);
  }

  /** Waits for the sums of all ranks. */
  void receive() {
    pending.await();
    for (int rank = 0; rank < collective.size(); rank++) {
      code.decode(row(in, rank), slice(rank), false);
    }
  }

  /** The slice of a rank; the last ones may be short or empty. */
  private Tensor slice(int rank) {
    var all = values();
    long length = sliceOf(all.numel());
    long from = Math.min(rank * length, all.numel());
    return all.narrow(0, from, Math.min(length, all.numel() - from));
  }

  private Tensor values() {
    return Objects.requireNonNull(values, "nothing was sent");
  }

  private void forgetValues() {
    TensorScope.free(values);
    values = null;
  }

  private Tensor sent(Tensor buffer) {
    return buffer.narrow(0, 0, collective.size() * rowLength());
  }

  private Tensor row(Tensor buffer, int rank) {
    return buffer.narrow(0, rank * rowLength(), rowLength());
  }

  private long rowLength() {
    return code.length(sliceOf(values().numel()));
  }

  @Override
  public void close() {
    forgetValues();
    TensorScope.free(out);
    TensorScope.free(in);
    TensorScope.free(sum);
    code.close();
  }
}
