/**
 * Fewer synchronisations: ranks update on their own gradients and average their parameters now and
 * then, at fixed or adaptive intervals, plainly or by an outer optimizer.
 */
@NullMarked
package dev.flotilla.strategy.localsgd;

import org.jspecify.annotations.NullMarked;
