package dev.flotilla.strategy.shard;

/** Who decides which slices lie beside the device. */
public enum Placement {
  /** The settings: what {@link Offload} names, all of it. */
  STATIC,
  /** The device: the optimizer's slices lie beside it as far as it has no room for them. */
  AUTO
}
