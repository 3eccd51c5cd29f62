/** Placeholder. */
@NullMarked
package dev.flotilla.strategy;

import org.jspecify.annotations.NullMarked;
