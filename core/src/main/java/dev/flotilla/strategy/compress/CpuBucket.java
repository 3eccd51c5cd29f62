package dev.flotilla.strategy.compress;

import dev.flotilla.memory.LibtorchArithmetic;
import java.util.List;
import org.bytedeco.pytorch.Tensor;

/**
 * Compresses on a CPU: Java loops over the arenas' memory, one pass for correction and choice.
 *
 * <p>Allocates when the sparsity changes, and nothing else.
 */
final class CpuBucket implements BucketCompressor {

  private static final int SPARSE = 8;

  private final Dgc settings;
  private final List<Field> fields;
  private final long elements;
  private final int universe;
  private final int ranks;
  private final Correction correction;
  private final boolean masksMomentum;
  private final Selector selector;

  private WireFormat format;
  private HostMessages memory;
  private int[] indices = new int[0];
  private float[] values = new float[0];
  private int threshold = Selector.NO_THRESHOLD;
  private long received;

  /**
   * Prepares a bucket.
   *
   * @param fields its compressed slices, in order
   * @param universe number of indices from its start to its end
   */
  CpuBucket(Dgc settings, Rule rule, List<Field> fields, int universe, int ranks) {
    this.settings = settings;
    this.fields = List.copyOf(fields);
    this.elements = fields.stream().mapToLong(Field::length).sum();
    this.universe = universe;
    this.ranks = ranks;
    this.correction = new Correction((float) rule.momentum(), rule.nesterov());
    this.masksMomentum = rule.masksMomentum();
    this.selector = new Selector(settings.selection());
    this.format = new WireFormat(settings.indices(), settings.values(), 0, universe);
    this.memory = HostMessages.of(0, ranks);
  }

  @Override
  public void sparsity(double fraction) {
    int capacity = Ramp.kept(elements, fraction);
    if (capacity == format.capacity()) {
      return;
    }
    close();
    format = new WireFormat(settings.indices(), settings.values(), capacity, universe);
    memory = HostMessages.of(format.words(), ranks);
    indices = new int[capacity];
    values = new float[capacity];
    selector.allocate(capacity, elements);
  }

  @Override
  public long elements() {
    return elements;
  }

  @Override
  public int capacity() {
    return format.capacity();
  }

  @Override
  public Tensor message() {
    return memory.own();
  }

  @Override
  public Tensor messages() {
    return memory.all();
  }

  @Override
  public void compress(double factor) {
    int k = format.capacity();
    int above = k >= elements ? 0 : threshold;
    var found = selector.candidates();
    found.clear();
    for (var field : fields) {
      correction.apply(field, (float) factor, above, isDense(), found);
    }
    threshold = selector.choose(fields, elements, k, above);
    send(found);
  }

  /** Tells whether so much is received that all of the gradient is looked at. */
  private boolean isDense() {
    return (long) format.capacity() * ranks > elements / SPARSE;
  }

  /** Whatever goes into the message leaves the residual, to the last bit. */
  private void send(Candidates chosen) {
    int count = chosen.count();
    readResiduals(chosen, count);
    format.write(memory.ownBytes(), chosen.indices(), values, count);
    int i = 0;
    for (var field : fields) {
      for (; i < count && field.holds(chosen.indices()[i]); i++) {
        int at = chosen.indices()[i] - field.start();
        field.residual().put(at, field.residual().get(at) - values[i]);
        if (masksMomentum) {
          field.velocity().put(at, 0);
        }
      }
    }
  }

  private void readResiduals(Candidates chosen, int count) {
    int i = 0;
    for (var field : fields) {
      for (; i < count && field.holds(chosen.indices()[i]); i++) {
        values[i] = field.residual().get(chosen.indices()[i] - field.start());
      }
    }
  }

  @Override
  public void add() {
    if (!isDense()) {
      clearReceived();
    }
    received = 0;
    for (int rank = 0; rank < ranks; rank++) {
      var from = memory.bytesOf().get(rank);
      int count = format.readIndices(from, indices);
      format.readValues(from, values, count);
      received += count;
      int i = 0;
      for (var field : fields) {
        for (; i < count && field.holds(indices[i]); i++) {
          int at = indices[i] - field.start();
          field.gradient().put(at, field.gradient().get(at) + values[i]);
        }
      }
    }
  }

  /** Where messages will be added up, the rank's own gradient must go. */
  private void clearReceived() {
    for (var from : memory.bytesOf()) {
      int count = format.readIndices(from, indices);
      int i = 0;
      for (var field : fields) {
        for (; i < count && field.holds(indices[i]); i++) {
          field.gradient().put(indices[i] - field.start(), 0);
        }
      }
    }
  }

  @Override
  public void apply(double lr) {
    if (isDense()) {
      fields.forEach(field -> applyAll(field, (float) lr));
      return;
    }
    for (int rank = 0; rank < ranks; rank++) {
      int count = format.readIndices(memory.bytesOf().get(rank), indices);
      int i = 0;
      for (var field : fields) {
        for (; i < count && field.holds(indices[i]); i++) {
          // An index that several ranks have sent is zero when it comes again.
          applyAt(field, indices[i] - field.start(), (float) lr);
        }
      }
    }
  }

  private static void applyAll(Field field, float lr) {
    for (int i = 0; i < field.length(); i++) {
      applyAt(field, i, lr);
    }
  }

  private static void applyAt(Field field, int at, float lr) {
    float weight = field.weight().get(at);
    field.weight().put(at, LibtorchArithmetic.multiplyAdd(-lr, field.gradient().get(at), weight));
    field.gradient().put(at, 0);
  }

  @Override
  public long received() {
    return received;
  }

  @Override
  public int threshold() {
    return threshold;
  }

  @Override
  public void threshold(int saved) {
    threshold = saved;
  }

  @Override
  public void close() {
    memory.free();
  }
}
