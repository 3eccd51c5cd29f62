package dev.flotilla.strategy.compress;

import java.lang.foreign.MemorySegment;

/**
 * A compressed stretch of a bucket in memory.
 *
 * @param start its first element, counted from the start of the bucket
 * @param length number of elements
 * @param decay this rank's share λ / N of the decay
 * @param gradient the gradient g
 * @param velocity the velocity u
 * @param residual the residual v
 * @param weight the parameter w
 */
record Field(
    int start,
    int length,
    float decay,
    MemorySegment gradient,
    MemorySegment velocity,
    MemorySegment residual,
    MemorySegment weight) {}
