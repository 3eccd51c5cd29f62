package dev.flotilla.data;

/** Placeholder; see the data package. */
public final class RankShard {
  private RankShard() {}
}
