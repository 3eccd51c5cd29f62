package dev.flotilla.checkpoint;

import java.util.Map;
import org.bytedeco.pytorch.Tensor;

/** Tensors whose values need not all be in memory at a time. */
public interface WeightSource {

  /** Returns the tensors by name; their shapes are those of the values, which may be missing. */
  Map<String, Tensor> tensors();

  /** Brings the values of one tensor into memory; those of others may go. */
  void bring(String name);

  /** Returns tensors that all have their values. */
  static WeightSource of(Map<String, Tensor> tensors) {
    return new WeightSource() {
      @Override
      public Map<String, Tensor> tensors() {
        return tensors;
      }

      @Override
      public void bring(String name) {}
    };
  }
}
