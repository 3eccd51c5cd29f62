package dev.flotilla.zoo.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.model.BufferSpec;
import dev.flotilla.model.Model;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Segment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

final class ParameterCountTests {

  static Stream<Arguments> published() {
    return Stream.of(
        Arguments.of(new LeNet5(10), 61_706L),
        Arguments.of(new ResNet18(1000), 11_689_512L),
        Arguments.of(new ResNet50(1000), 25_557_032L),
        Arguments.of(new Vgg16(1000), 138_357_544L),
        Arguments.of(new Vgg16Bn(1000), 138_365_992L),
        Arguments.of(new BertTiny(), 4_433_468L),
        Arguments.of(new BertBase(), 110_106_428L),
        Arguments.of(new BertLarge(), 336_226_108L),
        Arguments.of(ResNet18.forCifar(10), 11_173_962L));
  }

  @ParameterizedTest
  @MethodSource("published")
  void countsAsTheReferenceDoes(Model model, long count) {
    assertThat(model.parameterCount()).isEqualTo(count);
  }

  @Test
  void hasOneSegmentPerBlock() {
    assertThat(new ResNet18(10).segments())
        .extracting(Segment::name)
        .containsExactly(
            "stem",
            "layer1.0",
            "layer1.1",
            "layer2.0",
            "layer2.1",
            "layer3.0",
            "layer3.1",
            "layer4.0",
            "layer4.1",
            "head");
    assertThat(new BertTiny().segments())
        .extracting(Segment::name)
        .containsExactly("embeddings", "layer.0", "layer.1", "heads");
    assertThat(new Vgg16(10).segments())
        .extracting(Segment::name)
        .containsExactly("block1", "block2", "block3", "block4", "block5", "classifier");
  }

  @Test
  void countsTheTiedDecoderOnce() {
    var names = new BertTiny().parameters().stream().map(ParameterSpec::name).toList();
    assertThat(names).doesNotHaveDuplicates().doesNotContain("cls.predictions.decoder.weight");
    assertThat(new BertTiny().aliases())
        .containsEntry("cls.predictions.decoder.weight", "bert.embeddings.word_embeddings.weight");
  }

  @Test
  void groupNormHasNoRunningStatistics() {
    var model = new ResNet18(10, Stem.CIFAR, Normalization.GROUP, 32, false, 64);
    assertThat(model.buffers()).isEmpty();
    assertThat(model.parameterCount()).isEqualTo(ResNet18.forCifar(10).parameterCount());
    assertThat(ResNet18.forCifar(10).buffers())
        .extracting(BufferSpec::name)
        .contains("bn1.running_mean", "bn1.running_var", "bn1.num_batches_tracked");
  }

  @Test
  void countsWithoutLoadingLibtorch(@TempDir Path folder) throws IOException, InterruptedException {
    Path classes = folder.resolve("classes.txt");
    var process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xlog:class+load:file=" + classes,
                "-cp",
                System.getProperty("java.class.path"),
                CountMain.class.getName())
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("output.txt").toFile())
            .start();
    try {
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    } finally {
      process.destroyForcibly();
    }
    assertThat(folder.resolve("output.txt")).content().isEqualToIgnoringNewLines("336226108");
    // Checking bytecode looks at classes of the binding; the loader is what loads the library.
    assertThat(Files.readString(classes))
        .contains(BertLarge.class.getName())
        .doesNotContain("org.bytedeco.javacpp.Loader");
  }
}
