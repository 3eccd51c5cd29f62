/**
 * What a run remembers, described once for saving and restoring.
 *
 * <p>Everything that remembers is {@link dev.flotilla.state.Stateful}.
 */
@NullMarked
package dev.flotilla.state;

import org.jspecify.annotations.NullMarked;
