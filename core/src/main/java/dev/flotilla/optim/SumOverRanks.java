package dev.flotilla.optim;

import org.bytedeco.pytorch.Tensor;

/** Adds up numbers over the ranks that each update slices of the same parameters. */
@FunctionalInterface
public interface SumOverRanks {

  /** Replaces numbers by their sums; all ranks call it together, with as many numbers. */
  void add(Tensor numbers);

  /** Returns what leaves numbers as they are, where every parameter is whole. */
  static SumOverRanks none() {
    return _ -> {};
  }
}
