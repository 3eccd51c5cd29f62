/**
 * Weights on disk.
 *
 * <p>Files are safetensors, written whole or not at all, and read strictly: whatever is malformed
 * is refused with a {@link dev.flotilla.checkpoint.CheckpointException} before memory is taken for
 * it. {@link dev.flotilla.checkpoint.WeightsDigest} tells whether two sets of weights are equal to
 * the bit.
 */
@NullMarked
package dev.flotilla.checkpoint;

import org.jspecify.annotations.NullMarked;
