/** Sharing gradients in buckets, while backward goes on, in fewer bits. */
@org.jspecify.annotations.NullMarked
package dev.flotilla.strategy.fusion;
