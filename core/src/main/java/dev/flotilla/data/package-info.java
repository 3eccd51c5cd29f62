/**
 * Samples, batches, and which rank sees which sample when.
 *
 * <p>The order of samples depends on the seed and the epoch alone; see {@link
 * dev.flotilla.data.RankShard}.
 */
@NullMarked
package dev.flotilla.data;

import org.jspecify.annotations.NullMarked;
