package dev.flotilla.bench;

import dev.flotilla.memory.DeviceChoice;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Momentum;
import dev.flotilla.predict.Predictor;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.ResNet18;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * Times predictions of ResNet-18 whenever a line comes in, in turn with {@code
 * bench/python/model_step.py predict1} or {@code predict16}; {@code OMP_NUM_THREADS} says how many
 * threads.
 */
final class PredictTime {

  private PredictTime() {}

  /** Takes the batch, the number of predictions per line, and the device (cpu). */
  public static void main(String[] args) throws IOException {
    int batch = Integer.parseInt(args[0]);
    int calls = Integer.parseInt(args[1]);
    var device = DeviceChoice.parse(args.length > 2 ? args[2] : "cpu");
    try (var predictor = predictor(device);
        var _ = TensorScope.open()) {
      var images = torch.randn(batch, 3, 32, 32);
      time(predictor, images, calls);
      System.out.println("ready");
      var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      while (lines.readLine() != null) {
        System.out.println(time(predictor, images, calls));
      }
    }
  }

  private static Predictor predictor(DeviceChoice device) throws IOException {
    Path weights = Files.createTempFile("resnet18", ".safetensors");
    try (var trainer =
        Trainer.on(World.solo())
            .model(ResNet18.forCifar(10))
            .optimizer(new Momentum(0.1, 0.9))
            .build()) {
      trainer.saveModel(weights);
      return Predictor.load(weights, ResNet18.forCifar(10), device);
    } finally {
      Files.delete(weights);
    }
  }

  private static String time(Predictor predictor, Tensor images, int calls) {
    long start = System.nanoTime();
    for (int i = 0; i < calls; i++) {
      try (var _ = TensorScope.open()) {
        NativeView.of(predictor.predict(images).cpu());
      }
    }
    return String.format(Locale.ROOT, "{\"ms\": %.4f}", (System.nanoTime() - start) / 1e6 / calls);
  }
}
