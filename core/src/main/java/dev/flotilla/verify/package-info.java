/**
 * Proves on the user's own model that merged micro-batches are the one large batch, or names what
 * makes them differ.
 *
 * <p>{@link dev.flotilla.verify.Verifier} runs a few accumulation windows both ways and compares
 * the gradient and the weights of every update. Causes are found by probing the model, the loss and
 * the composition of the gradients, never from names.
 *
 * <p>Imports point one way: config → verify → train → step.
 */
@NullMarked
package dev.flotilla.verify;

import org.jspecify.annotations.NullMarked;
