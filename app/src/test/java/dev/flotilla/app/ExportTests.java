package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A run's model leaves as a file, or a message says why not. */
@Isolated
class ExportTests {

  @TempDir static Path folder;
  private static Flotilla flotilla;

  @BeforeAll
  static void train() throws IOException {
    flotilla = Flotilla.in(folder);
    Files.createDirectories(flotilla.work().resolve("empty"));
    var data =
        "--set=data={name: synthetic-images, channels: 1, side: 32, classes: 10, samples: 64,"
            + " test_samples: 8}";
    flotilla.run("train", data, "--max-steps=1", "--out=run").expect(0);
    Files.writeString(flotilla.work().resolve("there.onnx"), "mine");
    var none = Files.createDirectories(flotilla.work().resolve("none"));
    Files.copy(flotilla.work().resolve("run/summary.json"), none.resolve("summary.json"));
  }

  @Test
  void onnxIsCalledAsTheRunUnlessAFileIsNamed() throws IOException {
    var ended = flotilla.run("export", "run", "--format", "onnx").expect(0);
    var file = flotilla.work().resolve("run.onnx");
    assertThat(ended.out())
        .isEqualTo(
            "61,706 parameters exported into run.onnx, %,d bytes%n".formatted(Files.size(file))
                + "takes input float32 [batch, 1, 32, 32]%ngives logits float32 [batch, 10]%n"
                    .formatted());
    assertThat(ended.err()).isEmpty();
  }

  @Test
  void whatWasThereIsReplacedByForce() throws IOException {
    var file = Files.writeString(flotilla.work().resolve("w.safetensors"), "old");
    var ended =
        flotilla.run("export", "run", "--format=SAFETENSORS", "--out=w.safetensors", "--force");
    assertThat(ended.expect(0).out())
        .isEqualTo(
            "61,706 parameters exported into w.safetensors, %,d bytes%n"
                .formatted(Files.size(file)));
    assertThat(Files.size(file)).isGreaterThan(4 * 61_706L);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "run --format=torchscript | 2 | expected one of [ONNX, SAFETENSORS]",
        "run | 2 | --format",
        "nowhere --format=onnx | 2 | nowhere does not exist; name the folder of a run",
        "empty --format=onnx | 8 | empty does not hold a run",
        "none --format=onnx | 8 | none/model.safetensors",
        "run --format=onnx --out=there.onnx | 2 | there.onnx is there already; name another file",
        "run --format=onnx --out=no/a.onnx | 2 | work/no; make it, or name another",
        "run --format=onnx --shape=1x28x28 | 2 | takes images of 1x32x32, but the data gives",
        "run --format=onnx --shape=1x | 2 | --shape: must be extents like 3x224x224, but was '1x'",
      })
  void mistakesAreSaid(String arguments, int code, String message) {
    var work = flotilla.work() + "/";
    var words = ("export " + work + arguments.replace("--out=", "--out=" + work)).split(" ");
    assertThat(Ended.here(words).expect(code).err())
        .startsWith("flotilla: ")
        .contains(message)
        .doesNotContain("\tat ");
    assertThat(flotilla.work().resolve("there.onnx")).hasContent("mine");
  }
}
