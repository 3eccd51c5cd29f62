package dev.flotilla.wire;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Pending;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.state.State;
import java.util.Objects;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * A sum of float32 vectors over ranks that is coded on its way out and on its way back.
 *
 * <p>Each rank gets one slice of every other's vector, adds up in float32 in the order of ranks,
 * and sends its slice of the sum to all: the volume of an all-reduce. All ranks end with the same
 * bits. Where a codec loses much, what it loses on either way is kept and added to the next sum.
 *
 * <p>The three steps follow one another, each when what the one before has started was awaited;
 * between them, others can be taken of another sum.
 */
public final class CodedSum implements AutoCloseable {

  private final Collective collective;
  private final CodedRows out;
  private final CodedRows in;
  private final Tensor total;
  private final Tensor term;
  private final @Nullable Tensor lostIn;
  private final @Nullable Tensor lostOut;
  private @Nullable Tensor values;

  /**
   * Prepares sums.
   *
   * @param codec whose unit divides the slices of all vectors to come
   * @param longest numbers of the longest vector to come
   */
  public CodedSum(Collective collective, Codec codec, long longest) {
    this.collective = collective;
    int size = collective.size();
    long slice = slice(longest);
    out = new CodedRows(codec, size, slice);
    in = new CodedRows(codec, size, slice);
    try (var _ = TensorScope.open()) {
      total = zeros(slice);
      term = zeros(slice);
      boolean feedsBack = codec.needsFeedback();
      lostIn = feedsBack ? zeros(size * slice) : null;
      lostOut = feedsBack ? zeros(slice) : null;
    }
  }

  private static Tensor zeros(long length) {
    return TensorScope.keep(Tensors.zeros(torch.ScalarType.Float, length));
  }

  /** Returns how long the slices of a vector of so many numbers are, but for the last ones. */
  private long slice(long length) {
    return Math.ceilDiv(length, collective.size());
  }

  /** Starts to send each rank its slice of a vector, which is overwritten from now on. */
  public Pending scatter(Tensor vector, Traffic traffic) {
    forgetValues();
    values = TensorScope.keep(vector.narrow(0, 0, vector.numel()));
    out.fit(slice(vector.numel()));
    in.fit(slice(vector.numel()));
    for (int rank = 0; rank < collective.size(); rank++) {
      var lost = lostIn == null ? null : slice(lostIn, rank);
      encode(slice(values(), rank), lost, rank);
    }
    return collective.allToAll(in.all(), out.all(), traffic);
  }

  /** Adds up this rank's slice, when all have arrived, times a factor; starts to send it to all. */
  public Pending addUp(double factor, Traffic traffic) {
    long length = slice(values(), collective.rank()).numel();
    var sum = total.narrow(0, 0, length);
    in.addUp(sum, term.narrow(0, 0, length));
    if (factor != 1) {
      Tensors.scale(sum, factor);
    }
    encode(sum, lostOut, 0);
    return collective.allGather(in.all(), out.row(0), traffic);
  }

  /** Takes up the sum, when it has arrived. */
  public void receive() {
    for (int rank = 0; rank < collective.size(); rank++) {
      in.decode(rank, slice(values(), rank));
    }
  }

  /** Codes numbers plus what was lost before, and keeps what is lost now. */
  private void encode(Tensor numbers, @Nullable Tensor lost, int row) {
    if (numbers.numel() == 0) {
      return;
    }
    if (lost == null) {
      out.encode(numbers, row);
      return;
    }
    try (var _ = TensorScope.open()) {
      lost.add_(numbers);
      numbers.copy_(lost);
      out.encode(numbers, row);
      out.decode(row, numbers);
      lost.sub_(numbers);
    }
  }

  /** The slice of a rank; the last ones may be short or empty. */
  private Tensor slice(Tensor vector, int rank) {
    long length = slice(vector.numel());
    long from = Math.min(rank * length, vector.numel());
    return vector.narrow(0, from, Math.min(length, vector.numel() - from));
  }

  private Tensor values() {
    return Objects.requireNonNull(values, "nothing was sent");
  }

  private void forgetValues() {
    TensorScope.free(values);
    values = null;
  }

  /** Puts down, or takes up, what was lost; nothing may be under way. */
  public void remember(State state) {
    if (lostIn != null && lostOut != null) {
      state.tensor("lost_in", lostIn);
      state.tensor("lost_out", lostOut);
    }
  }

  @Override
  public void close() {
    forgetValues();
    out.close();
    in.close();
    TensorScope.free(total);
    TensorScope.free(term);
    TensorScope.free(lostIn);
    TensorScope.free(lostOut);
  }
}
