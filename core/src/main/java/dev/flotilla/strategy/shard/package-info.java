/**
 * Sharded training state (ZeRO): each rank keeps a slice of what all ranks would hold alike.
 *
 * <p>The cut is made once from the layout ({@link dev.flotilla.strategy.shard.Slicing}); exchange,
 * update and the gathering of parameters all follow it.
 */
@NullMarked
package dev.flotilla.strategy.shard;

import org.jspecify.annotations.NullMarked;
