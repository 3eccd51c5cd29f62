package dev.flotilla.app.wrong.strategy.two;

/** A technique that another one knows. */
public record Two() {}
