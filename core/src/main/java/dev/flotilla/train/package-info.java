/**
 * Training as users write it: build a {@link dev.flotilla.train.Trainer}, then fit, or keep your
 * own loop over the same pieces.
 */
@NullMarked
package dev.flotilla.train;

import org.jspecify.annotations.NullMarked;
