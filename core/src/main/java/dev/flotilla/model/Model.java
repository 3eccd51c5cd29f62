package dev.flotilla.model;

/** A chain of segments with the objective it is trained for; placeholder. */
public interface Model {}
