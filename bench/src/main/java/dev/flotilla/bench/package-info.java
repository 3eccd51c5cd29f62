/** Benchmarks, run by hand; each prints ratios of two things measured in one run, interleaved. */
@NullMarked
package dev.flotilla.bench;

import org.jspecify.annotations.NullMarked;
