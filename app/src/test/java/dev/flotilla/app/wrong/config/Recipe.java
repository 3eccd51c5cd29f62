package dev.flotilla.app.wrong.config;

import dev.flotilla.app.wrong.step.Step;
import org.jspecify.annotations.Nullable;

/** What nothing below may know, but a step does: a cycle. */
public record Recipe(@Nullable Step step) {}
