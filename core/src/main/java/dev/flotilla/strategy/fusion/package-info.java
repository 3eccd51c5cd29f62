/** Shares gradients in buckets, while backward goes on, in half the bytes if wanted. */
@NullMarked
package dev.flotilla.strategy.fusion;

import org.jspecify.annotations.NullMarked;
