package dev.flotilla.pass;

import dev.flotilla.model.Activations;

/** Where the inputs of recomputed spans wait for backward; last in, first out. */
public interface SavedTensorStore extends AutoCloseable {

  /** Activations that wait. */
  interface Stored {

    /** Starts to bring them back, if that takes time; they will be asked for soon. */
    default void prepare() {}

    /** Brings them back into the caller's scope, in the order in which they were given. */
    Activations fetch();

    /** Gives them up: no backward will ask for them. */
    void drop();
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

  /** Takes a copy of activations, which stay as they are until the span that takes them has run. */
  Stored store(Activations activations);

  /** Tells whether anything is moved at all. */
  default boolean moves() {
    return true;
  }

  /** Frees what it holds. */
  @Override
  default void close() {}
}
