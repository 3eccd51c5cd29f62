package dev.flotilla.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.memory.TensorScope;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch.ScalarType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SafetensorsRoundTripTests {

  @TempDir Path folder;
  private TensorScope scope;

  @BeforeEach
  void open() {
    scope = TensorScope.open();
  }

  @AfterEach
  void close() {
    scope.close();
  }

  @ParameterizedTest
  @EnumSource(
      value = ScalarType.class,
      names = {
        "Double",
        "Float",
        "Half",
        "BFloat16",
        "Long",
        "Int",
        "Short",
        "Char",
        "Byte",
        "Bool"
      })
  void givesBackEveryBitOfEveryType(ScalarType type) {
    var random = new Random(type.value);
    var tensors = new LinkedHashMap<String, Tensor>();
    tensors.put("scalar", Tensors.random(type, random));
    tensors.put("empty", Tensors.random(type, random, 3, 0, 2));
    tensors.put("matrix", Tensors.random(type, random, 7, 5));
    tensors.put("one", Tensors.random(type, random, 1, 1, 1, 1));
    requireRoundTrip(tensors);
  }

  @Test
  void keepsOddNames() {
    var tensors = new LinkedHashMap<String, Tensor>();
    for (var name :
        new String[] {
          "a b",
          "\"quoted\"",
          "back\\slash",
          "../../etc/passwd",
          "näïve",
          "火",
          "😀",
          "\n\t\u0001",
          "__metadata",
          "x".repeat(100_000)
        }) {
      tensors.put(name, Tensors.floats(tensors.size()));
    }
    requireRoundTrip(tensors);
  }

  @Test
  void storesTensorsLargerThanOneChunk() {
    var large = Tensors.empty(ScalarType.Byte, (64 << 20) + 3);
    large.random_();
    requireRoundTrip(Map.of("large", large));
  }

  @Test
  void alignsEveryTensorToItsElements() {
    var random = new Random(1);
    var file = folder.resolve("mixed.safetensors");
    var tensors =
        Map.of(
            "a", Tensors.random(ScalarType.Byte, random, 3),
            "b", Tensors.random(ScalarType.Float, random, 3),
            "c", Tensors.random(ScalarType.Long, random),
            "d", Tensors.random(ScalarType.Half, random, 1));
    SafetensorsWriter.write(file, tensors, Map.of());
    try (var opened = SafetensorsFile.open(file)) {
      assertThat(opened.tensors()).extracting(TensorInfo::name).containsExactly("c", "b", "d", "a");
      assertThat(opened.tensors())
          .allSatisfy(info -> assertThat(info.begin() % info.type().bytes()).isZero());
    }
  }

  @Test
  void writesTheBytesThatTheFormatAsksFor() throws IOException {
    var file = folder.resolve("model.safetensors");
    var tensors = new LinkedHashMap<String, Tensor>();
    tensors.put("b", Tensors.floats(1));
    tensors.put("a", Tensors.floats(0, 0).view(1, 2));
    SafetensorsWriter.write(file, tensors, Map.of("epoch", "3"));
    var json =
        """
        {"__metadata__":{"epoch":"3","format":"pt"},\
        "a":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},\
        "b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}}\
        """;
    var written = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
    int header = written.charAt(0);
    assertThat(header % 8).isZero();
    assertThat(written.substring(1, 8)).isEqualTo("\0".repeat(7));
    assertThat(written.substring(8, 8 + header).stripTrailing()).isEqualTo(json);
    assertThat(written.substring(8 + header)).isEqualTo("\0".repeat(8) + "\0\0\u0080?");
    try (var opened = SafetensorsFile.open(file)) {
      assertThat(opened.metadata()).isEqualTo(Map.of("format", "pt", "epoch", "3"));
    }
  }

  @Test
  void writesEqualFilesForEqualTensors() throws IOException {
    var one = new LinkedHashMap<String, Tensor>();
    one.put("a", Tensors.floats(1));
    one.put("b", Tensors.floats(2));
    var two = new LinkedHashMap<String, Tensor>();
    two.put("b", Tensors.floats(2));
    two.put("a", Tensors.floats(1));
    SafetensorsWriter.write(folder.resolve("1"), one, Map.of("x", "1", "y", "2"));
    SafetensorsWriter.write(folder.resolve("2"), two, Map.of("y", "2", "x", "1"));
    assertThat(folder.resolve("1")).hasSameBinaryContentAs(folder.resolve("2"));
  }

  @Test
  void isReadableByItsOwnerAlone() throws IOException {
    var file = folder.resolve("model.safetensors");
    SafetensorsWriter.write(file, Map.of(), Map.of());
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
  }

  @Test
  void replacesAnEarlierFile() {
    var file = folder.resolve("model.safetensors");
    SafetensorsWriter.write(file, Map.of("a", Tensors.floats(1)), Map.of());
    SafetensorsWriter.write(file, Map.of("b", Tensors.floats(2)), Map.of());
    try (var opened = SafetensorsFile.open(file)) {
      assertThat(opened.tensors()).extracting(TensorInfo::name).containsExactly("b");
    }
  }

  @Test
  void leavesTheOldFileAndNothingElseWhenWritingFails() throws IOException {
    var file = Files.writeString(folder.resolve("model.safetensors"), "old");
    assertThatThrownBy(
            () ->
                WholeFile.write(
                    file,
                    channel -> {
                      channel.write(StandardCharsets.UTF_8.encode("half"));
                      throw new IOException("No space left on device");
                    }))
        .isInstanceOf(CheckpointException.class)
        .hasMessage("cannot write %s: No space left on device".formatted(file));
    assertThat(file).hasContent("old");
    assertThat(folder.toFile().list()).containsExactly("model.safetensors");
  }

  @Test
  void saysWhyItCannotWrite() {
    var file = folder.resolve("missing/model.safetensors");
    assertThatThrownBy(() -> SafetensorsWriter.write(file, Map.of(), Map.of()))
        .isInstanceOf(CheckpointException.class)
        .hasMessageStartingWith("cannot write %s: no such file or folder: ".formatted(file));
  }

  @Test
  void refusesNamesThatCannotBeReadBack() {
    var tensor = Tensors.floats(1);
    for (var name : new String[] {"", "a\0b", "__metadata__", "\ud800", "x".repeat(2_000_000)}) {
      assertThatThrownBy(
              () -> SafetensorsWriter.write(folder.resolve("f"), Map.of(name, tensor), Map.of()))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThat(folder).isEmptyDirectory();
  }

  private void requireRoundTrip(Map<String, Tensor> tensors) {
    var file = folder.resolve("model.safetensors");
    SafetensorsWriter.write(file, tensors, Map.of());
    try (var opened = SafetensorsFile.open(file)) {
      assertThat(opened.tensors()).hasSameSizeAs(tensors.keySet());
      tensors.forEach((name, tensor) -> requireEqual(opened, name, tensor));
    }
  }

  private static void requireEqual(SafetensorsFile opened, String name, Tensor tensor) {
    var copy = tensor.clone();
    if (copy.numel() > 0) {
      copy.zero_();
    }
    opened.copyInto(name, copy);
    assertThat(Tensors.bytes(copy)).isEqualTo(Tensors.bytes(tensor));
    assertThat(opened.info(name).shape()).hasSize((int) tensor.dim());
  }
}
