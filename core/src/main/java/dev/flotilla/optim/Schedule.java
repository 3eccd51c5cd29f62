package dev.flotilla.optim;

/** The learning rate over updates; placeholder. */
public interface Schedule {}
