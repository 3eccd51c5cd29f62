/**
 * Short programs that train; each differs from {@link dev.flotilla.examples.Baseline} by one idea.
 */
@NullMarked
package dev.flotilla.examples;

import org.jspecify.annotations.NullMarked;
