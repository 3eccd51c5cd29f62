package dev.flotilla.zoo.model;

import dev.flotilla.model.Activations;
import java.util.List;
import org.bytedeco.pytorch.Tensor;

/**
 * The inputs of BERT, all int64 with one row per sequence.
 *
 * @param tokens [n, length]
 * @param types [n, length], the sentence that each token belongs to
 * @param positions [n, length]
 * @param attention [n, length], 0 where a position is padding; or [n, 0] where none is
 * @param rest what the heads take: for pre-training the masked positions, [n, most], filled up with
 *     -1
 */
record BertBatch(
    Tensor tokens, Tensor types, Tensor positions, Tensor attention, List<Tensor> rest) {

  static BertBatch of(Activations inputs) {
    var tensors = inputs.tensors();
    if (tensors.size() < 4) {
      throw new IllegalArgumentException(
          "BERT takes tokens, sentences, positions and attention, but got "
              + tensors.size()
              + " tensors: its data must be text");
    }
    return new BertBatch(
        tensors.get(0),
        tensors.get(1),
        tensors.get(2),
        tensors.get(3),
        tensors.subList(4, tensors.size()));
  }
}
