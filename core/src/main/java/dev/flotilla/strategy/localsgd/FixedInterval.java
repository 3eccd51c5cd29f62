package dev.flotilla.strategy.localsgd;

/** Always the same number of updates. */
record FixedInterval(int updates) implements Interval {}
