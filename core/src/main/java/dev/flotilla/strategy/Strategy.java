package dev.flotilla.strategy;

/** A technique that claims phases of a step; placeholder. */
public interface Strategy {}
