/** Limits the size of gradients. */
@NullMarked
package dev.flotilla.strategy.clip;

import org.jspecify.annotations.NullMarked;
