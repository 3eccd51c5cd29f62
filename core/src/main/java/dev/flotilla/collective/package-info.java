/**
 * Operations that all ranks of a group make together.
 *
 * <p>All ranks make the same calls in the same order. Every wait has a timeout, and its failure
 * names rank, operation, bytes and elapsed time. One rank is part of the contract: its collectives
 * change nothing and cost nothing.
 */
@NullMarked
package dev.flotilla.collective;

import org.jspecify.annotations.NullMarked;
