package dev.flotilla.memory;

import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.Dispatcher;
import org.bytedeco.pytorch.GenericList;
import org.bytedeco.pytorch.IValue;
import org.bytedeco.pytorch.IValueVector;
import org.bytedeco.pytorch.OperatorHandle;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorList;
import org.bytedeco.pytorch.TensorVector;

/** An ATen operator that the binding leaves out, called through the dispatcher. */
public final class Operator implements AutoCloseable {

  private final OperatorHandle handle;

  /** Finds an operator by its full name, as {@code aten::add_}. */
  public Operator(String name) {
    this(name, "");
  }

  /** Finds one of several operators of a name. */
  public Operator(String name, String overload) {
    try (var _ = TensorScope.open()) {
      handle = TensorScope.keep(Dispatcher.singleton().findSchemaOrThrow(name, overload));
    }
  }

  /** Packs tensors as a list argument, to be kept and passed again; the caller frees it. */
  public static IValue list(List<Tensor> tensors) {
    try (var _ = TensorScope.open()) {
      var vector = new TensorVector();
      tensors.forEach(vector::push_back);
      // A typed list and a generic one are the same object in C++; only the latter becomes a value.
      return TensorScope.keep(new IValue(new GenericList(new TensorList(vector))));
    }
  }

  /** Calls the operator with all arguments of its schema, in order. */
  public void call(Object... arguments) {
    try (var _ = TensorScope.open()) {
      results(arguments);
    }
  }

  /** Calls the operator and returns the tensors among its results, in the current scope. */
  public List<Tensor> tensors(Object... arguments) {
    try (var scope = TensorScope.open()) {
      var results = results(arguments);
      List<Tensor> tensors = new ArrayList<>();
      for (long i = 0; i < results.size(); i++) {
        // A value hands out what it holds, which ends with it.
        if (results.get(i).isTensor()) {
          tensors.add(scope.handOut(new Tensor(results.get(i).toTensor())));
        }
      }
      return tensors;
    }
  }

  /** Calls the operator and returns its result, a whole number. */
  public long number(Object... arguments) {
    try (var _ = TensorScope.open()) {
      return results(arguments).get(0).toInt();
    }
  }

  private IValueVector results(Object... arguments) {
    var stack = new IValueVector();
    for (var argument : arguments) {
      stack.push_back(value(argument));
    }
    handle.callBoxed(stack);
    return stack;
  }

  private static IValue value(Object argument) {
    return switch (argument) {
      case IValue packed -> packed;
      case Tensor tensor -> new IValue(tensor);
      case Double number -> new IValue(number.doubleValue());
      case Long number -> new IValue(number.longValue());
      case Boolean flag -> new IValue(flag.booleanValue());
      case Absent _ -> new IValue();
      default -> throw new IllegalArgumentException("no operator takes " + argument);
    };
  }

  /** The absent optional argument. */
  public enum Absent {
    /** The only value. */
    NONE
  }

  @Override
  public void close() {
    TensorScope.free(handle);
  }
}
