package dev.flotilla.zoo.model;

import dev.flotilla.checkpoint.ShardedWriter;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.ForwardMode;
import dev.flotilla.model.Model;
import dev.flotilla.pass.BoundModel;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.bytedeco.pytorch.Tensor;
import tools.jackson.databind.json.JsonMapper;

/**
 * Writes hashed weights, and what Flotilla computes from them, for {@code references.py --check} to
 * load.
 */
final class ExportMain {

  private ExportMain() {}

  public static void main(String[] args) throws IOException {
    var folder = Path.of(args[0]);
    export(folder, "resnet50", new ResNet50(1000), Long.MAX_VALUE);
    var reference = Reference.of("bert", Precision.FLOAT32);
    double perSequence = (double) reference.whole("masked") / reference.whole("samples");
    export(folder, "bert", ReferenceTests.bert(null, perSequence), 40_000);
  }

  private static void export(Path folder, String name, Model model, long shardBytes)
      throws IOException {
    var target = Files.createDirectories(folder.resolve(name));
    Map<String, Object> outputs = new LinkedHashMap<>();
    try (var bound = ReferenceTests.bind(model, Precision.FLOAT32);
        var _ = TensorScope.open()) {
      ShardedWriter.write(target, bound.state(), shardBytes);
      compute(bound, name, outputs);
    }
    var json = JsonMapper.shared();
    Files.writeString(folder.resolve(name + ".json"), json.writeValueAsString(outputs));
    if (!model.configuration().isEmpty()) {
      Files.writeString(
          target.resolve("config.json"), json.writeValueAsString(model.configuration()));
    }
  }

  private static void compute(BoundModel bound, String name, Map<String, Object> outputs) {
    if (name.equals("bert")) {
      var results = ReferenceTests.run(bound, ReferenceTests.text(true), ForwardMode.EVALUATE);
      outputs.put("outputs", first(results.tensors().get(0)));
      outputs.put("sentences", first(results.tensors().get(1)));
    } else {
      var batch =
          ReferenceTests.images(Reference.of(name, Precision.FLOAT32), 3, Precision.FLOAT32);
      var results = ReferenceTests.run(bound, batch, ForwardMode.EVALUATE);
      outputs.put("evaluated", first(results.only()));
    }
  }

  private static float[] first(Tensor tensor) {
    var values = NativeView.of(tensor.detach().contiguous()).toArray(ValueLayout.JAVA_FLOAT);
    return Arrays.copyOf(values, Math.min(16, values.length));
  }
}
