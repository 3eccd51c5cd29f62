package dev.flotilla.app.wrong.step;

import dev.flotilla.app.wrong.config.Recipe;
import dev.flotilla.app.wrong.strategy.one.One;

/** Looks upwards twice: at the configuration, and at a technique. */
public record Step(Recipe recipe, One technique) {}
