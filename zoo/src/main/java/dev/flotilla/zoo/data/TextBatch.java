package dev.flotilla.zoo.data;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.Tensors;
import java.util.List;
import java.util.function.IntBinaryOperator;
import org.bytedeco.pytorch.Tensor;

/** Writes sequences as the tensors that BERT takes: int64, one row per sequence. */
final class TextBatch {

  private static final int NO_POSITION = -1;

  private final List<TextSequence> sequences;
  private final int padToken;
  private final int length;

  TextBatch(List<TextSequence> sequences, TextPadding padding) {
    this.sequences = sequences;
    this.padToken = padding.token();
    this.length = padding.lengthFor(sequences);
  }

  /** Returns tokens, sentences, positions and attention, with a class for each sequence. */
  Batch classified() {
    long[] labels = sequences.stream().mapToLong(TextSequence::label).toArray();
    var inputs = inputs((row, i) -> sequences.get(row).tokens()[i]);
    return new Batch(inputs, Tensors.ofLongs(labels), sequences.size());
  }

  /** Returns the masked positions as well, with the hidden tokens behind each label. */
  Batch masked(List<Masking.Masked> masked) {
    int most = Math.max(1, masked.stream().mapToInt(m -> m.positions().length).max().orElseThrow());
    var inputs = inputs((row, i) -> masked.get(row).tokens()[i]);
    var positions = rows(most, (row, i) -> at(masked.get(row).positions(), i, NO_POSITION));
    var targets =
        rows(
            1 + most,
            (row, i) ->
                i == 0
                    ? sequences.get(row).label()
                    : at(masked.get(row).hidden(), i - 1, TextSequence.NO_LABEL));
    var all = List.of(inputs.get(0), inputs.get(1), inputs.get(2), inputs.get(3), positions);
    return new Batch(all, targets, sequences.size());
  }

  private static int at(int[] values, int index, int otherwise) {
    return index < values.length ? values[index] : otherwise;
  }

  private List<Tensor> inputs(IntBinaryOperator tokens) {
    return List.of(
        padded(tokens, padToken),
        padded((row, i) -> sequences.get(row).types()[i], 0),
        padded((row, i) -> sequences.get(row).positions()[i], 0),
        attention());
  }

  /** Returns which positions are no padding; without any, no column, which says so at no cost. */
  private Tensor attention() {
    boolean isPadded = sequences.stream().anyMatch(sequence -> sequence.length() < length);
    return isPadded ? padded((_, _) -> 1, 0) : rows(0, (_, _) -> 1);
  }

  private Tensor padded(IntBinaryOperator value, int padding) {
    return rows(
        length, (row, i) -> i < sequences.get(row).length() ? value.applyAsInt(row, i) : padding);
  }

  private Tensor rows(int columns, IntBinaryOperator value) {
    var values = new long[sequences.size() * columns];
    for (int row = 0; row < sequences.size(); row++) {
      for (int i = 0; i < columns; i++) {
        values[row * columns + i] = value.applyAsInt(row, i);
      }
    }
    return Tensors.ofLongs(values).view(sequences.size(), columns);
  }
}
