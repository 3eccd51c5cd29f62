/** Placeholder. */
@NullMarked
package dev.flotilla.optim;

import org.jspecify.annotations.NullMarked;
