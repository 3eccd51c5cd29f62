package dev.flotilla.checkpoint;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.state.State;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.bytedeco.pytorch.Tensor;

/**
 * Gives a rank back its part of sums.
 *
 * <p>With another number of ranks they are dealt out: a rank adds up the parts of those whose place
 * it takes.
 *
 * @param checkpoint its folder
 * @param isRegrouped whether the number of ranks has changed
 * @param asked hears the names of long tensors that were asked for
 */
record LoadedSums(Path checkpoint, RankFiles ranks, boolean isRegrouped, Set<String> asked)
    implements State {

  private static String full(String name) {
    return "sum/" + name;
  }

  private Stream<State> parts() {
    return ranks.own().stream().map(rank -> rank.part("sum"));
  }

  @Override
  public void tensor(String name, Tensor live) {
    // Also where no slice falls to this rank: the files of others hold some.
    asked.add(SliceName.SUM + name);
    if (isSliced(name)) {
      takeUpSlices(name, live);
    } else if (isRegrouped) {
      addUp(name, live);
    } else {
      ranks.own().getFirst().tensor(full(name), live);
    }
  }

  private void addUp(String name, Tensor live) {
    live.zero_();
    for (var rank : ranks.own()) {
      try (var _ = TensorScope.open()) {
        var part = live.new_zeros(live.shape());
        rank.tensor(full(name), part);
        live.add_(part);
      }
    }
  }

  /** A rank that had no slice to save is one of several that had. */
  private boolean isSliced(String name) {
    var own = ranks.own();
    if (own.isEmpty() || own.stream().anyMatch(rank -> rank.has(full(name)))) {
      return false;
    }
    var whole = SliceName.SUM + name;
    return isIn(own, whole) || isIn(ranks.all(), whole);
  }

  private static boolean isIn(List<LoadedPart> files, String whole) {
    return files.stream().anyMatch(file -> !file.slices(whole).isEmpty());
  }

  private void takeUpSlices(String name, Tensor live) {
    var slices = saved(name, ranks.own());
    for (var slice : slices) {
      if (slice.end() > live.numel()) {
        throw new CheckpointException(
            "%s holds elements [%d, %d) of %s, which has only %d in the model"
                .formatted(
                    slice.part().path(),
                    slice.begin(),
                    slice.end(),
                    TensorName.quote(name),
                    live.numel()));
      }
    }
    try (var flat = live.view(-1)) {
      addUp(SlicePiece.of(0, live.numel(), slices), 0, flat);
    }
  }

  /**
   * Takes up this rank's own slice, if it was cut so, or the total over the ranks that saved.
   *
   * <p>What a rank saved as a whole is one slice of it.
   */
  @Override
  public void slice(String name, long offset, Tensor live) {
    asked.add(SliceName.SUM + name);
    ranks.own().forEach(rank -> rank.ask(full(name)));
    if (live.numel() == 0) {
      return;
    }
    long end = offset + live.numel();
    var unchanged =
        isRegrouped
            ? List.<SavedSlice>of()
            : ranks.own().getFirst().slices(SliceName.SUM + name).stream()
                .filter(slice -> slice.begin() == offset && slice.end() == end)
                .toList();
    var slices = unchanged.isEmpty() ? saved(name, ranks.all()) : unchanged;
    if (slices.isEmpty()) {
      throw new CheckpointException(
          "%s holds no elements [%d, %d) of the sum %s; it was saved with other techniques"
              .formatted(checkpoint, offset, end, TensorName.quote(name)));
    }
    addUp(SlicePiece.of(offset, end, slices), offset, live);
  }

  private static List<SavedSlice> saved(String name, List<LoadedPart> files) {
    return files.stream()
        .flatMap(
            file ->
                Stream.concat(
                    file.slices(SliceName.SUM + name).stream(), file.whole(full(name)).stream()))
        .toList();
  }

  /** What only one rank has saved comes back to the bit. */
  private static void addUp(List<SlicePiece> pieces, long offset, Tensor live) {
    for (var piece : pieces) {
      try (var _ = TensorScope.open()) {
        var target = live.narrow(0, piece.begin() - offset, piece.length());
        var slices = piece.slices();
        if (slices.isEmpty()) {
          target.zero_();
          continue;
        }
        slices.getFirst().copyInto(piece.begin(), target);
        for (var more : slices.subList(1, slices.size())) {
          var part = target.new_zeros(target.shape());
          more.copyInto(piece.begin(), part);
          target.add_(part);
        }
      }
    }
  }

  @Override
  public boolean has(String name) {
    return parts().allMatch(rank -> rank.has(name));
  }

  @Override
  public long number(String name, long value) {
    return parts().mapToLong(rank -> rank.number(name, 0)).sum();
  }

  @Override
  public double real(String name, double value) {
    return isRegrouped
        ? parts().mapToDouble(rank -> rank.real(name, 0)).sum()
        : ranks.own().getFirst().real(full(name), value);
  }

  @Override
  public String text(String name, String value) {
    if (isRegrouped) {
      throw new IllegalStateException(name + " is a text, which cannot be summed over ranks");
    }
    return ranks.own().getFirst().text(full(name), value);
  }
}
