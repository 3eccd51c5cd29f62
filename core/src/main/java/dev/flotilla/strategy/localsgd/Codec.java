package dev.flotilla.strategy.localsgd;

import org.bytedeco.pytorch.Tensor;

/** Writes float32 numbers with fewer bits. */
interface Codec {

  /** Returns the number of elements of which a slice must hold a multiple. */
  long unit();

  /** Returns the bytes that so many elements take. */
  long bytes(long elements);

  /** Writes a vector into bytes. */
  void encode(Tensor values, Tensor bytes);

  /** Reads a vector from bytes. */
  void decode(Tensor bytes, Tensor values);

  /** Tells whether so much is lost that it must be added to the next round. */
  boolean needsFeedback();
}
