package dev.flotilla.model;

/**
 * State of a model that is saved with it but not trained, such as running statistics.
 *
 * @param name published name, for example {@code bn1.running_mean}
 * @param shape extents
 * @param counter whether it is an int64 counter, which is never averaged over ranks
 * @param initial value of every element at the start
 */
public record BufferSpec(String name, Shape shape, boolean counter, double initial) {}
