package dev.flotilla.checkpoint;

import dev.flotilla.state.State;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
import org.bytedeco.pytorch.Tensor;

/** One file of a checkpoint that is being restored; knows what nobody asked for. */
final class LoadedPart implements State, AutoCloseable {

  private final Path path;
  private final SafetensorsFile file;
  private final Set<String> asked = new HashSet<>();

  LoadedPart(Path path) {
    this.path = path;
    this.file = SafetensorsFile.open(path);
  }

  SafetensorsFile file() {
    return file;
  }

  @Override
  public void tensor(String name, Tensor live) {
    asked.add(name);
    file.copyInto(name, live);
  }

  @Override
  public boolean has(String name) {
    return file.metadata().containsKey(name) || file.contains(name);
  }

  @Override
  public long number(String name, long value) {
    var text = text(name, "");
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw unreadable(name, text);
    }
  }

  @Override
  public double real(String name, double value) {
    var text = text(name, "");
    try {
      return Double.parseDouble(text);
    } catch (NumberFormatException e) {
      throw unreadable(name, text);
    }
  }

  @Override
  public String text(String name, String value) {
    asked.add(name);
    var text = file.metadata().get(name);
    if (text == null) {
      throw new CheckpointException(
          "%s does not say %s; it was saved with other techniques or by another version"
              .formatted(path, TensorName.quote(name)));
    }
    return text;
  }

  private CheckpointException unreadable(String name, String text) {
    return new CheckpointException(
        "%s says %s for %s, which is not a number"
            .formatted(path, TensorName.quote(text), TensorName.quote(name)));
  }

  /**
   * Checks that everything in the file was taken up.
   *
   * @throws CheckpointException that lists what was not
   */
  void requireAllAsked() {
    var left = new TreeSet<>(file.metadata().keySet());
    left.remove("format");
    file.tensors().forEach(tensor -> left.add(tensor.name()));
    left.removeAll(asked);
    if (!left.isEmpty()) {
      throw new CheckpointException(
          "%s holds what this run has no use for: %s; it was saved with another model or technique"
              .formatted(
                  path, left.size() <= 8 ? left : left.size() + " names, first " + left.first()));
    }
  }

  @Override
  public void close() {
    file.close();
  }
}
