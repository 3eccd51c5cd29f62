package dev.flotilla.arena;

/**
 * A contiguous part of an arena that is exchanged at once.
 *
 * @param offset first element
 * @param length number of elements
 */
public record Bucket(long offset, long length) {}
