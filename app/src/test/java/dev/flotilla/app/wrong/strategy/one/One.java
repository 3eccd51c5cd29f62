package dev.flotilla.app.wrong.strategy.one;

import dev.flotilla.app.wrong.strategy.two.Two;

/** A technique that knows another one. */
public record One(Two other) {}
