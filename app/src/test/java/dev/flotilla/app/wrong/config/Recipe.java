package dev.flotilla.app.wrong.config;

import dev.flotilla.app.wrong.engine.Engine;
import org.jspecify.annotations.Nullable;

/** What nothing below may know, but the engine does: a cycle. */
public record Recipe(@Nullable Engine engine) {}
