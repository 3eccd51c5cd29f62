package dev.flotilla.pass;

import dev.flotilla.model.Activations;

/** Where the inputs of recomputed spans wait for backward; last in, first out. */
public interface SavedTensorStore {

  /** Activations that wait. */
  interface Stored {

    /** Starts to bring them back, if that takes time; they will be asked for soon. */
    default void prepare() {}

    /** Brings them back into the caller's scope, in the order in which they were given. */
    Activations fetch();
  }

  /** Leaves everything where it is. */
  SavedTensorStore IN_PLACE =
      new SavedTensorStore() {
        @Override
        public Stored store(Activations activations) {
          throw new IllegalStateException("nothing is stored elsewhere");
        }

        @Override
        public boolean moves() {
          return false;
        }
      };

  /** Takes a copy of activations. */
  Stored store(Activations activations);

  /** Tells whether anything is moved at all. */
  default boolean moves() {
    return true;
  }
}
