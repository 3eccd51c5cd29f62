package dev.flotilla.checkpoint;

import dev.flotilla.state.State;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.bytedeco.pytorch.Tensor;

/** One file of a checkpoint that is being restored; knows what nobody asked for. */
final class LoadedPart implements State, AutoCloseable {

  private final Path path;
  private final SafetensorsFile file;
  private final Reading reading;
  private final Set<String> asked = new HashSet<>();
  private final Map<String, List<SavedSlice>> slices = new HashMap<>();

  /** Hears which bytes of a file are about to be read as part of a slice. */
  interface Reading {
    void of(long begin, long end);
  }

  LoadedPart(Path path, Reading reading) {
    this.path = path;
    this.reading = reading;
    this.file = SafetensorsFile.open(path);
    file.tensors().forEach(this::noteSlice);
  }

  private void noteSlice(TensorInfo info) {
    SliceName.parse(info.name())
        .ifPresent(
            name ->
                slices
                    .computeIfAbsent(name.whole(), _ -> new ArrayList<>())
                    .add(new SavedSlice(this, info, name.offset())));
  }

  Path path() {
    return path;
  }

  /** Returns the slices of a long tensor that are in this file. */
  List<SavedSlice> slices(String whole) {
    return slices.getOrDefault(whole, List.of());
  }

  /** Returns a tensor as a slice that holds everything, if it is in this file. */
  Optional<SavedSlice> whole(String name) {
    return file.contains(name)
        ? Optional.of(new SavedSlice(this, file.info(name), 0))
        : Optional.empty();
  }

  /** Copies consecutive elements of a tensor in this file. */
  void copyRange(TensorInfo info, long first, Tensor target) {
    reading.of(file.positionOf(info, first), file.positionOf(info, first + target.numel()));
    file.copyRange(info, first, target);
  }

  /** Notes that somebody has a use for a name, whether it is there or not. */
  void ask(String name) {
    asked.add(name);
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
  public void mayLeave(String part) {
    names().filter(name -> name.startsWith(part + "/")).forEach(asked::add);
  }

  private Stream<String> names() {
    return Stream.concat(
        file.metadata().keySet().stream(), file.tensors().stream().map(TensorInfo::name));
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
   * Checks that everything in the file was taken up, by this rank or, of slices, by another.
   *
   * @param askedSlices long tensors that were asked for
   * @throws CheckpointException that lists what was not
   */
  void requireAllAsked(Set<String> askedSlices) {
    var left = names().collect(Collectors.toCollection(TreeSet::new));
    left.remove("format");
    left.removeAll(asked);
    left.removeIf(name -> isSliceOf(askedSlices, name));
    requireNone(left);
  }

  /** Checks that of every long tensor in the file something was taken up. */
  void requireSlicesAsked(Set<String> askedSlices) {
    var left = new TreeSet<>(slices.keySet());
    left.removeAll(askedSlices);
    requireNone(left);
  }

  private static boolean isSliceOf(Set<String> wholes, String name) {
    return SliceName.parse(name).filter(slice -> wholes.contains(slice.whole())).isPresent();
  }

  private void requireNone(SortedSet<String> left) {
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
