/** A moving average of the weights, evaluated and saved beside them. */
@NullMarked
package dev.flotilla.strategy.ema;

import org.jspecify.annotations.NullMarked;
