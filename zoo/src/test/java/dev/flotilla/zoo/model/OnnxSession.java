package dev.flotilla.zoo.model;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.Tensors;
import java.lang.foreign.ValueLayout;
import java.nio.FloatBuffer;
import java.nio.LongBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/** An ONNX file in onnxruntime, which takes and gives libtorch's tensors. */
final class OnnxSession implements AutoCloseable {

  private final OrtSession session;

  OnnxSession(Path file) throws OrtException {
    try (var options = new OrtSession.SessionOptions()) {
      options.setIntraOpNumThreads(1);
      session = OrtEnvironment.getEnvironment().createSession(file.toString(), options);
    }
  }

  /** Returns the outputs for inputs in the order of the file. */
  List<Tensor> run(Tensor... inputs) throws OrtException {
    Map<String, OnnxTensor> named = new LinkedHashMap<>();
    int next = 0;
    for (var name : session.getInputNames()) {
      named.put(name, tensor(inputs[next++]));
    }
    try (var result = session.run(named)) {
      return session.getOutputNames().stream()
          .map(name -> tensor((OnnxTensor) result.get(name).orElseThrow()))
          .toList();
    } finally {
      named.values().forEach(OnnxTensor::close);
    }
  }

  private static OnnxTensor tensor(Tensor tensor) throws OrtException {
    var environment = OrtEnvironment.getEnvironment();
    var memory = NativeView.of(tensor);
    return tensor.scalar_type().intern() == torch.ScalarType.Long
        ? OnnxTensor.createTensor(
            environment, LongBuffer.wrap(memory.toArray(ValueLayout.JAVA_LONG)), tensor.shape())
        : OnnxTensor.createTensor(
            environment, FloatBuffer.wrap(memory.toArray(ValueLayout.JAVA_FLOAT)), tensor.shape());
  }

  private static Tensor tensor(OnnxTensor output) {
    var copy = Tensors.empty(torch.ScalarType.Float, output.getInfo().getShape());
    NativeView.of(copy)
        .asByteBuffer()
        .order(java.nio.ByteOrder.nativeOrder())
        .asFloatBuffer()
        .put(output.getFloatBuffer());
    return copy;
  }

  /** Returns names and shapes of what it takes; −1 where each call decides. */
  Map<String, List<Long>> inputs() throws OrtException {
    return shapes(session.getInputInfo());
  }

  /** Returns names and shapes of what it gives; −1 where each call decides. */
  Map<String, List<Long>> outputs() throws OrtException {
    return shapes(session.getOutputInfo());
  }

  private static Map<String, List<Long>> shapes(Map<String, ai.onnxruntime.NodeInfo> values) {
    Map<String, List<Long>> shapes = new LinkedHashMap<>();
    values.forEach(
        (name, value) -> {
          var info = (ai.onnxruntime.TensorInfo) value.getInfo();
          shapes.put(name, Arrays.stream(info.getShape()).boxed().toList());
        });
    return shapes;
  }

  ai.onnxruntime.OnnxModelMetadata metadata() throws OrtException {
    return session.getMetadata();
  }

  @Override
  public void close() throws OrtException {
    session.close();
  }
}
