package dev.flotilla.onnx;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * A graph of ONNX operators that is being built, with the weights that it uses. {@link OnnxLayers}
 * has what networks are mostly made of; any other operator of opset {@value OnnxModel#OPSET} is a
 * {@link #node}.
 */
public final class OnnxGraph {

  private final Function<String, OnnxTensor> weights;
  private final List<ProtoMessage> nodes = new ArrayList<>();
  private final Map<String, OnnxTensor> tensors = new LinkedHashMap<>();
  private final List<OnnxValue> inputs = new ArrayList<>();
  private final List<OnnxValue> outputs = new ArrayList<>();
  private final Map<String, Integer> counts = new HashMap<>();
  private final Set<String> names = new HashSet<>();
  private String place = "";

  /**
   * Begins an empty graph.
   *
   * @param weights returns a parameter or buffer by its name in the model, in float32
   */
  public OnnxGraph(Function<String, OnnxTensor> weights) {
    this.weights = weights;
  }

  /** Has the names of what is added from now on begin with that of a part of the model. */
  public void enter(String part) {
    place = part + "/";
  }

  /** Adds what the graph takes. */
  public void input(OnnxValue value) {
    claim(value.name());
    inputs.add(value);
  }

  /** Adds what the graph gives, under a name. */
  public void output(String name, OnnxValue value) {
    var output = new OnnxValue(claim(name), value.type(), value.shape());
    addNode("Identity", output, List.of(value));
    outputs.add(output);
  }

  private String claim(String name) {
    if (!names.add(name)) {
      throw new IllegalArgumentException("the graph has two values called " + name);
    }
    return name;
  }

  /** Returns a parameter or buffer by its name in the model; it is in the file once. */
  public OnnxValue weight(String name) {
    if (!tensors.containsKey(name)) {
      claim(name);
    }
    return tensors.computeIfAbsent(name, weights).named(name);
  }

  /** Returns a row of whole numbers. */
  public OnnxValue row(long... values) {
    return constant(OnnxTensor.of(values));
  }

  /** Returns a single whole number. */
  public OnnxValue scalar(long value) {
    return constant(OnnxTensor.ofOne(value));
  }

  /** Returns a single number. */
  public OnnxValue constant(double value) {
    return constant(OnnxTensor.of(List.of(), (float) value));
  }

  OnnxValue constant(OnnxTensor tensor) {
    String name = newName("constant");
    tensors.put(name, tensor);
    return tensor.named(name);
  }

  private String newName(String kind) {
    String name;
    do {
      name = place + kind + "_" + counts.merge(place + kind, 1, Integer::sum);
    } while (names.contains(name));
    return claim(name);
  }

  /**
   * Adds an operator with one output.
   *
   * @param operator its name in ONNX
   * @param type of what it gives
   * @param shape of what it gives
   */
  public OnnxValue node(
      String operator,
      OnnxType type,
      List<OnnxExtent> shape,
      List<OnnxValue> operands,
      OnnxAttribute... attributes) {
    var output = new OnnxValue(newName(operator), type, shape);
    addNode(operator, output, operands, attributes);
    return output;
  }

  /** Adds an operator whose output has the type and shape of its first operand. */
  public OnnxValue like(OnnxValue first, String operator, OnnxValue... others) {
    var operands = Stream.concat(Stream.of(first), Stream.of(others)).toList();
    return node(operator, first.type(), first.shape(), operands);
  }

  private void addNode(
      String operator, OnnxValue output, List<OnnxValue> operands, OnnxAttribute... attributes) {
    var message = new ProtoMessage();
    operands.forEach(operand -> message.text(1, operand.name()));
    message.text(2, output.name()).text(3, output.name()).text(4, operator);
    for (var attribute : attributes) {
      message.message(5, attribute.proto());
    }
    nodes.add(message);
  }

  /** Returns max(0, x). */
  public OnnxValue relu(OnnxValue x) {
    return like(x, "Relu");
  }

  /** Returns a + b, where b has the shape of a or is repeated over it. */
  public OnnxValue add(OnnxValue a, OnnxValue b) {
    return like(a, "Add", b);
  }

  /** Returns a · b number by number, where b has the shape of a or is repeated over it. */
  public OnnxValue mul(OnnxValue a, OnnxValue b) {
    return like(a, "Mul", b);
  }

  /** Returns x in another type. */
  public OnnxValue cast(OnnxValue x, OnnxType type) {
    return node("Cast", type, x.shape(), List.of(x), OnnxAttribute.of("to", type.number()));
  }

  /** Returns a product of matrices; what stands before the last two axes is repeated. */
  public OnnxValue matmul(OnnxValue a, OnnxValue b) {
    var larger = a.rank() >= b.rank() ? a : b;
    List<OnnxExtent> shape = new ArrayList<>(larger.shape());
    shape.set(shape.size() - 2, a.extent(-2));
    shape.set(shape.size() - 1, b.extent(-1));
    return node("MatMul", a.type(), shape, List.of(a, b));
  }

  /** Returns x with its axes in another order. */
  public OnnxValue transpose(OnnxValue x, int... axes) {
    List<OnnxExtent> shape = new ArrayList<>();
    var order = new long[axes.length];
    for (int i = 0; i < axes.length; i++) {
      order[i] = axes[i];
      shape.add(x.extent(axes[i]));
    }
    return node("Transpose", x.type(), shape, List.of(x), OnnxAttribute.ofRow("perm", order));
  }

  /**
   * Returns x in another shape.
   *
   * @param extents 0 where it stays what it is, −1 for what is left
   */
  public OnnxValue reshape(OnnxValue x, long... extents) {
    List<OnnxExtent> shape = new ArrayList<>();
    for (int i = 0; i < extents.length; i++) {
      shape.add(
          extents[i] == 0
              ? x.extent(i)
              : extents[i] < 0 ? OnnxExtent.UNKNOWN : OnnxExtent.of(extents[i]));
    }
    return node("Reshape", x.type(), shape, List.of(x, row(extents)));
  }

  /** Returns x with new axes of one number each. */
  public OnnxValue unsqueeze(OnnxValue x, long... axes) {
    List<OnnxExtent> shape = new ArrayList<>(x.shape());
    for (long axis : axes) {
      shape.add((int) axis, OnnxExtent.of(1));
    }
    return node("Unsqueeze", x.type(), shape, List.of(x, row(axes)));
  }

  /** Returns x at one place of an axis, which is then gone. */
  public OnnxValue select(OnnxValue x, int axis, long index) {
    List<OnnxExtent> shape = new ArrayList<>(x.shape());
    shape.remove(axis);
    return node(
        "Gather", x.type(), shape, List.of(x, scalar(index)), OnnxAttribute.of("axis", axis));
  }

  /** Returns the graph as a GraphProto. */
  ProtoMessage proto(String name) {
    var message = new ProtoMessage();
    nodes.forEach(node -> message.message(1, node));
    message.text(2, name);
    tensors.forEach((tensor, content) -> message.message(5, content.proto(tensor)));
    inputs.forEach(value -> message.message(11, value.proto()));
    outputs.forEach(value -> message.message(12, value.proto()));
    return message;
  }

  /** Returns what the graph takes. */
  public List<OnnxValue> inputs() {
    return List.copyOf(inputs);
  }

  /** Returns what the graph gives. */
  public List<OnnxValue> outputs() {
    return List.copyOf(outputs);
  }
}
