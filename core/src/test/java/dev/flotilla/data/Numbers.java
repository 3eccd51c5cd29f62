package dev.flotilla.data;

/** A data set whose samples are never loaded: only their order matters. */
record Numbers(int size) implements Dataset {

  @Override
  public Batch load(int[] samples) {
    throw new AssertionError("nothing should be loaded");
  }
}
