/** Keeps less for backward, and computes it again when backward needs it. */
@NullMarked
package dev.flotilla.strategy.recompute;

import org.jspecify.annotations.NullMarked;
