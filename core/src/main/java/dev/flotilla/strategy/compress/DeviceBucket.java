package dev.flotilla.strategy.compress;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.strategy.compress.DeviceMessages.Entries;
import dev.flotilla.wire.Dtype;
import java.util.List;
import java.util.Objects;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * Compresses on a GPU.
 *
 * <p>Passes over memory: five for the correction (read g, u, v, write u, v), which looks for large
 * residuals on the way; where our kernel cannot be compiled, libtorch's own do it, with one more
 * pass to look. All else touches a small part.
 */
final class DeviceBucket implements BucketCompressor {

  private final Dgc settings;
  private final DeviceField field;
  private final int universe;
  private final int ranks;
  private final boolean masksMomentum;
  private final DeviceCorrection correction;
  private final @Nullable FusedCorrection fused;
  private final DeviceSelector selector;
  private WireFormat format;
  private @Nullable DeviceMessages messages;
  private List<Entries> entries = List.of();
  private int threshold = Selector.NO_THRESHOLD;

  /**
   * Prepares a bucket.
   *
   * @param field its memory, which it frees
   * @param universe number of indices from the bucket's start to its end
   */
  DeviceBucket(Dgc settings, Rule rule, DeviceField field, int universe, int ranks) {
    this.settings = settings;
    this.field = field;
    this.universe = universe;
    this.ranks = ranks;
    this.masksMomentum = rule.masksMomentum();
    this.correction = new DeviceCorrection(rule, field);
    this.fused = FusedCorrection.of(rule, field).orElse(null);
    this.selector = new DeviceSelector(settings.selection(), field.residual(), field.elements());
    this.format = new WireFormat(settings.indices(), settings.values(), 0, universe);
  }

  @Override
  public void sparsity(double fraction) {
    int capacity = Ramp.kept(elements(), fraction);
    if (messages != null && capacity == format.capacity()) {
      return;
    }
    if (messages != null) {
      messages.close();
    }
    format = new WireFormat(settings.indices(), settings.values(), capacity, universe);
    boolean isPlain = settings.indices() == IndexFormat.INT32 && settings.values() == Dtype.FP32;
    var device = ComputeDevice.of(field.residual());
    messages =
        isPlain
            ? new PlainMessages(format, ranks, device)
            : new CodedMessages(format, ranks, device);
  }

  @Override
  public long elements() {
    return field.elements();
  }

  @Override
  public int capacity() {
    return format.capacity();
  }

  private DeviceMessages ready() {
    return Objects.requireNonNull(messages, "sparsity() comes first");
  }

  @Override
  public Tensor message() {
    return ready().message();
  }

  @Override
  public Tensor messages() {
    return ready().messages();
  }

  @Override
  public void compress(double factor) {
    int k = format.capacity();
    int above = k >= elements() ? 0 : threshold;
    try (var _ = TensorScope.open()) {
      var chosen = selector.choose(k, above, correct(factor, above));
      threshold = selector.next();
      send(chosen);
    }
  }

  /** Corrects, and returns the indices above a threshold if it has looked for them. */
  private @Nullable Tensor correct(double factor, int above) {
    if (fused == null) {
      correction.apply(factor);
      return null;
    }
    fused.allocate(Math.min(elements(), Selector.MOST * format.capacity()));
    return fused.apply(factor, Float.intBitsToFloat(above));
  }

  /** Whatever goes into the message leaves the residual, to the last bit. */
  private void send(Tensor chosen) {
    var values = field.residual().index_select(0, chosen);
    // Indices are counted from the bucket's start, as on every rank.
    ready().write(chosen.add(new Scalar((long) field.start())), values);
    field.residual().index_add_(0, chosen, values, new Scalar(-1.0));
    if (masksMomentum) {
      field.velocity().index_fill_(0, chosen, new Scalar(0.0));
    }
  }

  @Override
  public void add() {
    forgetEntries();
    entries = ready().read();
    try (var _ = TensorScope.open()) {
      // Where messages will be added up, the rank's own gradient must go.
      for (var sent : entries) {
        sent.indices().sub_(new Scalar((long) field.start()));
        field.gradient().index_fill_(0, sent.indices(), new Scalar(0.0));
      }
      // A rank names no index twice, so that the order of ranks is the order of additions.
      for (var sent : entries) {
        field.gradient().index_add_(0, sent.indices(), sent.values());
      }
    }
  }

  @Override
  public void apply(double lr) {
    try (var _ = TensorScope.open()) {
      var step = new Scalar(-lr);
      for (var sent : entries) {
        // An index that several ranks have sent is zero when it comes again.
        var sums = field.gradient().index_select(0, sent.indices());
        field.weight().index_add_(0, sent.indices(), sums, step);
        field.gradient().index_fill_(0, sent.indices(), new Scalar(0.0));
      }
    }
  }

  @Override
  public long received() {
    return entries.stream().mapToLong(sent -> sent.indices().numel()).sum();
  }

  @Override
  public int threshold() {
    return threshold;
  }

  @Override
  public void threshold(int saved) {
    threshold = saved;
  }

  private void forgetEntries() {
    entries.forEach(Entries::free);
    entries = List.of();
  }

  @Override
  public void close() {
    forgetEntries();
    if (messages != null) {
      messages.close();
    }
    correction.close();
    if (fused != null) {
      fused.close();
    }
    selector.close();
    field.free();
  }
}
