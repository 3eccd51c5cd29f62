package dev.flotilla.checkpoint;

import org.bytedeco.pytorch.Tensor;

/**
 * Elements of a long tensor that lie in a file of a checkpoint.
 *
 * @param part the file
 * @param info the tensor that they are in the file
 * @param begin number of the first element in the whole
 */
record SavedSlice(LoadedPart part, TensorInfo info, long begin) {

  /** Returns the number of the element after the last one. */
  long end() {
    return begin + info.bytes() / info.type().bytes();
  }

  /**
   * Copies elements into a flat tensor.
   *
   * @param from number of the first one in the whole
   */
  void copyInto(long from, Tensor target) {
    part.copyRange(info, from - begin, target);
  }
}
