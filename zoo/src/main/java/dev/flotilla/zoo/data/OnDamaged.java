package dev.flotilla.zoo.data;

/** What happens when an image cannot be decoded in full. */
public enum OnDamaged {
  /** The run ends, and names the file. */
  STOP,
  /** The next image of its class takes its place; the file is named and counted. */
  SKIP
}
