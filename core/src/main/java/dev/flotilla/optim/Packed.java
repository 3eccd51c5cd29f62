package dev.flotilla.optim;

import dev.flotilla.memory.Operator;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.ParameterGroup.Extent;
import dev.flotilla.optim.ParameterGroup.Slice;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.ObjIntConsumer;
import org.bytedeco.pytorch.IValue;
import org.bytedeco.pytorch.Tensor;

/**
 * Slices that a rule updates at once, all on the device: as lists for fused operators, and piece by
 * piece for rules that have none.
 *
 * @param slices parameters and gradients
 * @param kinds for each kind of what the rule remembers, a tensor per slice
 * @param parameters the slices' parameters as an argument
 * @param gradients the slices' gradients as an argument
 * @param states what the rule remembers, as an argument for each kind
 */
record Packed(
    List<Slice> slices,
    List<List<Tensor>> kinds,
    IValue parameters,
    IValue gradients,
    List<IValue> states)
    implements AutoCloseable {

  /** Elements of a piece in main memory: what operators make on their way stays in the cache. */
  private static final long PIECE = 1 << 18;

  /**
   * Elements of a piece on a GPU, where starting an operator costs as much as a million of them.
   */
  private static final long DEVICE_PIECE = 1 << 24;

  /**
   * Consecutive elements.
   *
   * @param parameter values, changed in place
   * @param gradient not to be changed
   * @param states what the rule remembers of them, by kind, changed in place
   */
  record Piece(Tensor parameter, Tensor gradient, List<Tensor> states) {

    Tensor state(int kind) {
      return states.get(kind);
    }
  }

  static Packed of(List<Slice> slices, List<List<Tensor>> kinds) {
    return new Packed(
        slices,
        kinds,
        Operator.list(slices.stream().map(Slice::parameter).toList()),
        Operator.list(slices.stream().map(Slice::gradient).toList()),
        kinds.stream().map(Operator::list).toList());
  }

  int count() {
    return slices.size();
  }

  IValue state(int kind) {
    return states.get(kind);
  }

  /** Shows all elements, in pieces that keep what a rule allocates small. */
  void forEach(Consumer<Piece> rule) {
    for (int i = 0; i < slices.size(); i++) {
      forEach(i, 0, slices.get(i).parameter().numel(), rule);
    }
  }

  /** Shows what is here of each parameter, with the parameter's number. */
  void forEach(List<Extent> ofParameters, ObjIntConsumer<Piece> rule) {
    for (int i = 0; i < slices.size(); i++) {
      long first = slices.get(i).offset();
      long end = first + slices.get(i).parameter().numel();
      for (int number = 0; number < ofParameters.size(); number++) {
        var extent = ofParameters.get(number);
        long from = Math.max(first, extent.offset());
        long to = Math.min(end, extent.offset() + extent.length());
        int of = number;
        forEach(i, from - first, to - first, piece -> rule.accept(piece, of));
      }
    }
  }

  private void forEach(int slice, long from, long to, Consumer<Piece> rule) {
    long most = slices.get(slice).parameter().is_cuda() ? DEVICE_PIECE : PIECE;
    for (long start = from; start < to; start += most) {
      try (var _ = TensorScope.open()) {
        rule.accept(piece(slice, start, Math.min(most, to - start)));
      }
    }
  }

  private Piece piece(int slice, long start, long length) {
    return new Piece(
        slices.get(slice).parameter().narrow(0, start, length),
        slices.get(slice).gradient().narrow(0, start, length),
        kinds.stream().map(kind -> kind.get(slice).narrow(0, start, length)).toList());
  }

  @Override
  public void close() {
    TensorScope.free(parameters);
    TensorScope.free(gradients);
    states.forEach(TensorScope::free);
  }
}
