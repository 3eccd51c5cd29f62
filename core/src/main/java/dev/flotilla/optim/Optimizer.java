package dev.flotilla.optim;

/** Moves parameters along their gradients; placeholder. */
public interface Optimizer {}
