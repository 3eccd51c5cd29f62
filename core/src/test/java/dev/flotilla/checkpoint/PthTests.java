package dev.flotilla.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.pickle.PickleWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PthTests {

  @TempDir Path folder;

  private static byte[] floats(int count) {
    var bytes = ByteBuffer.allocate(count * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < count; i++) {
      bytes.putFloat(i);
    }
    return bytes.array();
  }

  /** Pushes a tensor of two axes as {@code torch.save} does. */
  private static PickleWriter tensor(
      PickleWriter out, int offset, int rows, int columns, int rowStride, int columnStride) {
    out.global("torch._utils", "_rebuild_tensor_v2").code('(');
    out.code('(').text("storage").global("torch", "FloatStorage").text("0").text("cpu").whole(6);
    out.code('t').code('Q').whole(offset);
    out.whole(rows).whole(columns).code(0x86).whole(rowStride).whole(columnStride).code(0x86);
    out.code(0x89).global("collections", "OrderedDict").code(')').code('R');
    return out.code('t').code('R');
  }

  private static PickleWriter dictionary() {
    return new PickleWriter().global("collections", "OrderedDict").code(')').code('R');
  }

  private Path write(byte[] pickle) throws IOException {
    var file = folder.resolve("model.pth");
    try (var zip = new ZipOutputStream(Files.newOutputStream(file))) {
      store(zip, "archive/data.pkl", pickle);
      store(
          zip, "archive/byteorder", "little".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
      store(zip, "archive/data/0", floats(6));
    }
    return file;
  }

  private static void store(ZipOutputStream zip, String name, byte[] bytes) throws IOException {
    var entry = new ZipEntry(name);
    var crc = new CRC32();
    crc.update(bytes);
    entry.setMethod(ZipEntry.STORED);
    entry.setSize(bytes.length);
    entry.setCrc(crc.getValue());
    zip.putNextEntry(entry);
    zip.write(bytes);
    zip.closeEntry();
  }

  private Path convert(byte[] pickle) throws IOException {
    var result = folder.resolve("result.safetensors");
    PthConverter.convert(write(pickle), result);
    return result;
  }

  private static float[] values(Path file, String name, int count) {
    try (var _ = dev.flotilla.memory.TensorScope.open();
        var saved = SafetensorsFile.open(file)) {
      var target =
          dev.flotilla.memory.Tensors.empty(
              org.bytedeco.pytorch.global.torch.ScalarType.Float, saved.info(name).shape());
      saved.copyInto(name, target);
      assertThat(target.numel()).isEqualTo(count);
      return dev.flotilla.memory.NativeView.of(target)
          .toArray(java.lang.foreign.ValueLayout.JAVA_FLOAT);
    }
  }

  @Test
  void convertsViewsOfOneStorage() throws IOException {
    var out = dictionary().code('(').text("whole");
    tensor(out, 0, 2, 3, 3, 1).text("turned");
    tensor(out, 0, 3, 2, 1, 3).text("part");
    tensor(out, 2, 2, 2, 2, 1).code('u');
    var result = convert(out.end());
    assertThat(values(result, "whole", 6)).containsExactly(0, 1, 2, 3, 4, 5);
    assertThat(values(result, "turned", 6)).containsExactly(0, 3, 1, 4, 2, 5);
    assertThat(values(result, "part", 4)).containsExactly(2, 3, 4, 5);
  }

  @Test
  void looksIntoWhatTrainingScriptsWrapItIn() throws IOException {
    var out = new PickleWriter().code('}').code('(').text("epoch").whole(3).text("state_dict");
    out.code('}').code('(').text("w");
    tensor(out, 0, 2, 3, 3, 1).code('u').code('u');
    assertThat(values(convert(out.end()), "w", 6)).containsExactly(0, 1, 2, 3, 4, 5);
  }

  @Test
  void refusesAForbiddenGlobalInAChildProcessAndLeavesNothingBehind() throws IOException {
    var marker = folder.resolve("owned");
    var out = dictionary().code('(').text("w");
    out.global("os", "system").text("touch " + marker).code(0x85).code('R').code('u');
    var file = write(out.end());
    assertThatThrownBy(() -> PublishedWeights.open(file))
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining("model.pth: archive/data.pkl, byte ")
        .hasMessageContaining("mentions os.system, which is not among the allowed names");
    assertThat(marker).doesNotExist();
  }

  @Test
  void opensAConvertedFileLikeAnyOther() throws IOException {
    var out = dictionary().code('(').text("w");
    tensor(out, 0, 2, 3, 3, 1).code('u');
    try (var weights = PublishedWeights.open(write(out.end()))) {
      assertThat(weights.tensors()).containsOnlyKeys("w");
    }
  }

  @Test
  void namesWhatIsWrongWithATensor() throws IOException {
    var outside = dictionary().code('(').text("w");
    tensor(outside, 3, 2, 3, 3, 1).code('u');
    assertThatThrownBy(() -> convert(outside.end()))
        .hasMessageContaining("tensor 'w' needs 36 bytes of archive/data/0, which has 24");
    var huge = dictionary().code('(').text("w");
    tensor(huge, 0, Integer.MAX_VALUE, Integer.MAX_VALUE, Integer.MAX_VALUE, 1).code('u');
    assertThatThrownBy(() -> convert(huge.end())).isInstanceOf(CheckpointException.class);
    var number = dictionary().code('(').text("w").whole(3).code('u');
    assertThatThrownBy(() -> convert(number.end())).hasMessageContaining("'w' is not a tensor");
  }

  /** 24 bytes that claim to be three gigabytes, at once and a little at a time. */
  @Test
  void refusesViewsThatRepeatTheirStorage() throws IOException {
    var large = dictionary().code('(').text("w");
    tensor(large, 0, 1 << 15, 25_000, 0, 0).code('u');
    assertThatThrownBy(() -> convert(large.end()))
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining("up to tensor 'w' its tensors take 3276800000 bytes")
        .hasMessageContaining("must be cloned before they are saved");
    var many = dictionary().code('(');
    for (int i = 0; i < 100; i++) {
      tensor(many.text("w" + i), 0, 1000, 1000, 0, 0);
    }
    assertThatThrownBy(() -> convert(many.code('u').end()))
        .hasMessageContaining("up to tensor 'w4' its tensors take 20000000 bytes");
  }

  @Test
  void parametersInParametersAreNoTensors() throws IOException {
    var out = dictionary().code('(').text("w");
    for (int i = 0; i < 100_000; i++) {
      out.global("torch._utils", "_rebuild_parameter");
    }
    tensor(out, 0, 2, 3, 3, 1);
    for (int i = 0; i < 100_000; i++) {
      out.code(0x85).code('R');
    }
    assertThatThrownBy(() -> convert(out.code('u').end()))
        .hasMessageContaining("'w' is not a tensor");
  }

  @Test
  void namesAFileThatIsNoArchive() throws IOException {
    var file = Files.writeString(folder.resolve("old.pth"), "not a zip");
    assertThatThrownBy(() -> PthConverter.convert(file, folder.resolve("x")))
        .hasMessageContaining("old.pth: is not a zip file");
  }
}
