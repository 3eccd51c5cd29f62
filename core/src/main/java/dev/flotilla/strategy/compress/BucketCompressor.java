package dev.flotilla.strategy.compress;

import org.bytedeco.pytorch.Tensor;

/**
 * The arithmetic of compression over one bucket of the arena, on the device where the arena lies.
 *
 * <p>In an accumulation window: {@link #compress}, an all-gather of {@link #message} into {@link
 * #messages}, {@link #add}, and {@link #apply} if the update goes on. Keeps the residual's
 * threshold from one window to the next; the residual itself belongs to {@link Residuals}.
 */
interface BucketCompressor extends AutoCloseable {

  /** Sets the fraction of elements that is held back; messages then have another size. */
  void sparsity(double fraction);

  /** Returns the number of compressed elements. */
  long elements();

  /** Returns the number of entries that a message may hold. */
  int capacity();

  /** Returns this rank's message. */
  Tensor message();

  /** Returns room for the messages of all ranks. */
  Tensor messages();

  /**
   * Corrects by momentum, adds to the residual, and moves the chosen entries from there into the
   * message; the gradient is then of no further use.
   *
   * @param factor what the gradient is multiplied by
   */
  void compress(double factor);

  /**
   * Adds up the entries of all messages in the order of ranks, at their indices in the gradient.
   */
  void add();

  /** Moves the parameters against what was added up. */
  void apply(double lr);

  /** Returns the number of entries in the messages, over all ranks. */
  long received();

  /** Returns what the next selection starts from. */
  int threshold();

  /** Takes up what an earlier run started from. */
  void threshold(int threshold);

  @Override
  void close();
}
