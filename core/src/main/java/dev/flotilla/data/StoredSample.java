package dev.flotilla.data;

import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * One sample in the memory of Java, whose collector frees it.
 *
 * @param rows its row of each tensor, of inputs first
 * @param inputs how many are of inputs
 */
record StoredSample(List<Row> rows, int inputs) {

  /** A row of a tensor: its numbers as they lie there. */
  static final class Row {

    private final torch.ScalarType type;
    private final long[] shape;
    private final byte[] bytes;

    private Row(torch.ScalarType type, long[] shape, byte[] bytes) {
      this.type = type;
      this.shape = shape;
      this.bytes = bytes;
    }

    private static Row of(Tensor tensor, int index) {
      try (var _ = TensorScope.open()) {
        var row = tensor.narrow(0, index, 1).contiguous();
        var shape = new long[(int) row.dim() - 1];
        Arrays.setAll(shape, axis -> row.size(axis + 1));
        var bytes = NativeView.of(row).toArray(ValueLayout.JAVA_BYTE);
        return new Row(row.scalar_type().intern(), shape, bytes);
      }
    }

    private static Tensor join(List<Row> rows) {
      var first = rows.getFirst();
      var whole = new long[first.shape.length + 1];
      whole[0] = rows.size();
      System.arraycopy(first.shape, 0, whole, 1, first.shape.length);
      var tensor = Tensors.empty(first.type, whole);
      var memory = NativeView.of(tensor);
      for (int i = 0; i < rows.size(); i++) {
        var bytes = MemorySegment.ofArray(rows.get(i).bytes);
        MemorySegment.copy(bytes, 0, memory, i * bytes.byteSize(), bytes.byteSize());
      }
      return tensor;
    }

    /** Returns type and shape. */
    @Override
    public String toString() {
      return type + Arrays.toString(shape);
    }
  }

  /** Copies the samples of a batch. */
  static List<StoredSample> of(Batch batch) {
    var tensors = Stream.concat(batch.inputs().stream(), batch.allTargets().stream()).toList();
    List<StoredSample> samples = new ArrayList<>();
    for (int i = 0; i < batch.samples(); i++) {
      int index = i;
      var rows = tensors.stream().map(tensor -> Row.of(tensor, index)).toList();
      samples.add(new StoredSample(rows, batch.inputs().size()));
    }
    return samples;
  }

  /**
   * Puts samples together as a batch in the current scope.
   *
   * @param numbers of the samples, for messages
   */
  static Batch join(List<StoredSample> samples, int[] numbers) {
    var first = samples.getFirst();
    for (int i = 1; i < samples.size(); i++) {
      if (!samples.get(i).form().equals(first.form())) {
        throw new IllegalArgumentException(
            "samples of a batch must be alike, but sample %d has %s and sample %d has %s"
                .formatted(numbers[0], first.form(), numbers[i], samples.get(i).form()));
      }
    }
    List<Tensor> tensors = new ArrayList<>();
    for (int k = 0; k < first.rows.size(); k++) {
      int field = k;
      tensors.add(Row.join(samples.stream().map(sample -> sample.rows.get(field)).toList()));
    }
    return new Batch(
        tensors.subList(0, first.inputs),
        tensors.subList(first.inputs, tensors.size()),
        samples.size());
  }

  /** Returns types and shapes. */
  private String form() {
    return "inputs %s and targets %s"
        .formatted(rows.subList(0, inputs), rows.subList(inputs, rows.size()));
  }
}
