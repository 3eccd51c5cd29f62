/**
 * Flat memory: all trainable parameters in one tensor, all their gradients in another.
 *
 * <p>A model's parameters and their gradients are views into these tensors, so that accumulation
 * allocates nothing, a bucket is a slice, and optimizers run over a few large tensors. The layout
 * is data; its hash, compared at the start, makes every later collective agree in size and type.
 */
@NullMarked
package dev.flotilla.arena;

import org.jspecify.annotations.NullMarked;
