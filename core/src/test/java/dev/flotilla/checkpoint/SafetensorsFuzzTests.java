package dev.flotilla.checkpoint;

import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.memory.TensorScope;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.bytedeco.pytorch.global.torch.ScalarType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Opens damaged files: each is refused with the one exception, or what it claims is true. */
class SafetensorsFuzzTests {

  private static final int CASES = 20_000;
  private static final long SEED = 20261115;

  @TempDir Path folder;

  @Test
  void refusesOrLoadsCorrectlyWhateverIsDamaged() throws IOException {
    byte[] sound = soundFile();
    var file = folder.resolve("damaged.safetensors");
    int refused = 0;
    try (var channel = FileChannel.open(file, CREATE_NEW, WRITE)) {
      for (int i = 0; i < CASES; i++) {
        byte[] damaged = damage(sound, new SplittableRandom(SEED + i));
        rewrite(channel, damaged);
        refused += isRefused(file, damaged, i) ? 1 : 0;
      }
    }
    assertThat(refused).isBetween(CASES / 2, CASES - 1);
  }

  /** In place: some file systems wait for the disk when a file is truncated to nothing. */
  private static void rewrite(FileChannel channel, byte[] content) throws IOException {
    channel.write(ByteBuffer.wrap(content), 0);
    channel.truncate(content.length);
  }

  private byte[] soundFile() throws IOException {
    var file = folder.resolve("sound.safetensors");
    try (var _ = TensorScope.open()) {
      var random = new Random(SEED);
      SafetensorsWriter.write(
          file,
          Map.of(
              "conv1.weight", Tensors.random(ScalarType.Float, random, 3, 2),
              "conv1.bias", Tensors.random(ScalarType.Float, random, 3),
              "steps", Tensors.random(ScalarType.Long, random),
              "mask", Tensors.random(ScalarType.Bool, random, 5),
              "empty", Tensors.random(ScalarType.Half, random, 0)),
          Map.of("note", "é"));
    }
    return Files.readAllBytes(file);
  }

  private static byte[] damage(byte[] sound, RandomGenerator random) {
    return switch (random.nextInt(6)) {
      case 0 -> Arrays.copyOf(sound, random.nextInt(sound.length));
      case 1 -> Arrays.copyOf(sound, sound.length + 1 + random.nextInt(20));
      case 2 -> spliced(sound, random);
      case 3 -> digitChanged(sound, random);
      default -> flipped(sound, random);
    };
  }

  /** Flips one to four bits of the length or the header. */
  private static byte[] flipped(byte[] sound, RandomGenerator random) {
    byte[] damaged = sound.clone();
    int flips = 1 + random.nextInt(4);
    for (int i = 0; i < flips; i++) {
      damaged[random.nextInt(headerEnd(sound))] ^= (byte) (1 << random.nextInt(8));
    }
    return damaged;
  }

  /** Copies a piece of the header over another one, so that most of it still is JSON. */
  private static byte[] spliced(byte[] sound, RandomGenerator random) {
    byte[] damaged = sound.clone();
    int length = 1 + random.nextInt(40);
    int limit = headerEnd(sound) - length;
    System.arraycopy(sound, random.nextInt(8, limit), damaged, random.nextInt(8, limit), length);
    return damaged;
  }

  /** Changes a number: the text is sound JSON, and only the checks of the content are left. */
  private static byte[] digitChanged(byte[] sound, RandomGenerator random) {
    byte[] damaged = sound.clone();
    int at;
    do {
      at = random.nextInt(8, headerEnd(sound));
    } while (!Character.isDigit(damaged[at]));
    damaged[at] = (byte) ('0' + random.nextInt(10));
    return damaged;
  }

  private static int headerEnd(byte[] bytes) {
    return 8 + (int) ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong(0);
  }

  private static boolean isRefused(Path file, byte[] content, int number) {
    try (var opened = SafetensorsFile.open(file)) {
      requireTrue(opened, content);
      return false;
    } catch (CheckpointException e) {
      return true;
    } catch (RuntimeException | AssertionError e) {
      throw new AssertionError("case %d of seed %d".formatted(number, SEED), e);
    }
  }

  /** Checks with arithmetic of its own that the tensors fill the data and hold the file's bytes. */
  private static void requireTrue(SafetensorsFile opened, byte[] content) {
    int expected = headerEnd(content);
    for (var info : opened.tensors()) {
      long elements = Arrays.stream(info.shape()).reduce(1, (a, b) -> a * b);
      assertThat(info.bytes()).isEqualTo(elements * info.type().bytes());
      assertThat(headerEnd(content) + info.begin()).isEqualTo(expected);
      expected += (int) info.bytes();
      requireContent(opened, info, content);
    }
    assertThat(expected).isEqualTo(content.length);
  }

  private static void requireContent(SafetensorsFile opened, TensorInfo info, byte[] content) {
    int start = headerEnd(content);
    byte[] stored =
        Arrays.copyOfRange(content, start + (int) info.begin(), start + (int) info.end());
    try (var _ = TensorScope.open()) {
      var tensor = Tensors.empty(scalarType(info.type()), info.shape());
      opened.copyInto(info.name(), tensor);
      assertThat(Arrays.equals(Tensors.bytes(tensor), stored)).isTrue();
    }
  }

  private static ScalarType scalarType(TensorType type) {
    return switch (type) {
      case F64 -> ScalarType.Double;
      case F32 -> ScalarType.Float;
      case F16 -> ScalarType.Half;
      case BF16 -> ScalarType.BFloat16;
      case I64 -> ScalarType.Long;
      case I32 -> ScalarType.Int;
      case I16 -> ScalarType.Short;
      case I8 -> ScalarType.Char;
      case U8 -> ScalarType.Byte;
      case BOOL -> ScalarType.Bool;
    };
  }
}
