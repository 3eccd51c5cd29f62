package dev.flotilla.checkpoint;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.bytedeco.pytorch.Tensor;

/**
 * Puts slices of what was equal on all ranks together again, from wherever they were saved.
 *
 * @param checkpoint its folder
 * @param shared the file of what is written once
 * @param asked hears the names of long tensors that were asked for
 */
record LoadedSlices(Path checkpoint, LoadedPart shared, RankFiles ranks, Set<String> asked)
    implements SlicedState.Slices {

  @Override
  public void slice(String name, long offset, Tensor live) {
    var whole = SliceName.EQUAL + name;
    asked.add(whole);
    long end = offset + live.numel();
    var pieces = SlicePiece.of(offset, end, saved(whole, ranks.own()));
    if (pieces.stream().anyMatch(piece -> piece.slices().isEmpty())) {
      pieces = SlicePiece.of(offset, end, saved(whole, ranks.all()));
    }
    pieces.forEach(piece -> requireOnce(name, piece));
    for (var piece : pieces) {
      try (var target = live.narrow(0, piece.begin() - offset, piece.length())) {
        piece.slices().getFirst().copyInto(piece.begin(), target);
      }
    }
  }

  private List<SavedSlice> saved(String whole, List<LoadedPart> files) {
    return Stream.concat(Stream.of(shared), files.stream())
        .flatMap(file -> file.slices(whole).stream())
        .toList();
  }

  private void requireOnce(String name, SlicePiece piece) {
    var holders = piece.slices();
    if (holders.isEmpty()) {
      throw new CheckpointException(
          "%s holds no elements [%d, %d) of %s; it was saved with another model or technique"
              .formatted(checkpoint, piece.begin(), piece.end(), TensorName.quote(name)));
    }
    if (holders.size() > 1) {
      throw new CheckpointException(
          "elements [%d, %d) of %s are both in %s and in %s, so that it is not known which ones hold"
              .formatted(
                  piece.begin(),
                  piece.end(),
                  TensorName.quote(name),
                  holders.get(0).part().path(),
                  holders.get(1).part().path()));
    }
  }
}
