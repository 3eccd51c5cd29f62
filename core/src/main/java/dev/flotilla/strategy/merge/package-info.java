/** Gradient merge: several micro-batches make one update, as if they had been one large batch. */
@NullMarked
package dev.flotilla.strategy.merge;

import org.jspecify.annotations.NullMarked;
