/**
 * Who am I: rank, world size, host and meeting point of this process.
 *
 * <p>Every environment-variable name that a launcher or scheduler may set is written once, in
 * {@link dev.flotilla.world.RankEnvironment}. Nothing here loads native code.
 */
@NullMarked
package dev.flotilla.world;

import org.jspecify.annotations.NullMarked;
