package dev.flotilla.state;

import java.util.List;

/** The state of a run, sorted by what becomes of it when the number of ranks changes. */
public interface RunState {

  /** Tells whether values are put down, not taken up. */
  boolean isSaving();

  /** Returns the model's parameters and buffers under their published names, equal on all ranks. */
  State weights();

  /**
   * Returns a moving average of the model's parameters, and buffers, under their published names;
   * it is written once, if anything is put down.
   */
  State movingAverage();

  /** Returns what is equal on all ranks; it is written once. */
  State shared();

  /**
   * Returns what is equal on all ranks but for {@linkplain State#slice slices}, of which each rank
   * holds its own. Together they make up what {@link #shared} would hold; either takes up what the
   * other has saved, with any number of ranks and any cut.
   */
  State sliced();

  /**
   * Returns {@link #sliced} on a rank whose slices another rank holds too, and puts down: this one
   * only takes them up.
   */
  default State slicedElsewhere() {
    return sliced();
  }

  /** Returns what only this rank knows; another number of ranks cannot take it up. */
  State own();

  /** Returns what only rank 0 knows, for any number of ranks; no other rank asks for it. */
  State leader();

  /**
   * Returns what only this rank knows, or with another number of ranks what each of those knew that
   * this one takes the place of, which may be none; for what any rank can take up, and several of.
   */
  List<State> dealt();

  /**
   * Returns this rank's part of a sum over all ranks; another number of ranks takes it up with the
   * sum unchanged but for rounding.
   *
   * <p>A {@linkplain State#slice slice} of a sum is this rank's own back if neither ranks nor cut
   * have changed, and otherwise the total over all ranks that saved any of its elements: so slices
   * of different ranks must not share elements, unless each rank had a tensor of the whole.
   */
  State summed();
}
