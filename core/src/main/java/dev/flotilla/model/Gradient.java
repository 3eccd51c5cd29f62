package dev.flotilla.model;

import org.bytedeco.pytorch.Tensor;

/**
 * The loss's gradient with respect to a tensor.
 *
 * @param of the tensor
 * @param value its gradient, undefined where none came
 */
public record Gradient(Tensor of, Tensor value) {}
