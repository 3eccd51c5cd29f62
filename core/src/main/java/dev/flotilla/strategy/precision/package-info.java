/** Runs models in smaller number types, with parameters and sums in float32. */
@NullMarked
package dev.flotilla.strategy.precision;

import org.jspecify.annotations.NullMarked;
