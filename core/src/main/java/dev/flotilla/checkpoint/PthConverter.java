package dev.flotilla.checkpoint;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;

/**
 * Converts a {@code .pth} state dict into a safetensors file; the main class of a JVM of its own,
 * so that nothing of the file is ever parsed where a model is trained. Loads no native code.
 */
final class PthConverter {

  private PthConverter() {}

  /** Converts the first argument into the second; prints one line and fails where it cannot. */
  public static void main(String[] args) {
    try {
      convert(Path.of(args[0]), Path.of(args[1]));
    } catch (CheckpointException problem) {
      System.err.println(problem.getMessage());
      Runtime.getRuntime().halt(1);
    } catch (OutOfMemoryError tooMuch) {
      System.err.println(args[0] + ": takes more memory to convert than there is");
      Runtime.getRuntime().halt(1);
    }
  }

  static void convert(Path from, Path to) {
    try (var arena = Arena.ofConfined();
        var archive = PthArchive.open(from)) {
      var tensors = archive.tensors(arena);
      requireDistinct(from, tensors);
      var sorted =
          tensors.stream()
              .sorted(Comparator.comparing(LiveTensor::name, TensorName.ORDER))
              .toList();
      var content = SafetensorsWriter.content(sorted, Map.of());
      WholeFile.write(to, channel -> content.writeTo(bytes -> writeFully(channel, bytes)));
    }
  }

  private static void requireDistinct(Path file, List<LiveTensor> tensors) {
    var names = new HashSet<String>();
    for (var tensor : tensors) {
      if (!names.add(tensor.name())) {
        throw new CheckpointException(
            "%s: holds %s twice".formatted(file, TensorName.quote(tensor.name())));
      }
    }
  }

  private static void writeFully(FileChannel channel, java.nio.ByteBuffer bytes)
      throws IOException {
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }
}
