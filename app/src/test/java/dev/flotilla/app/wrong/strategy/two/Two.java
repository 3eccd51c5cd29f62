package dev.flotilla.app.wrong.strategy.two;

import dev.flotilla.settings.Setting;

/**
 * A technique that another one knows, and whose setting is described by another one.
 *
 * @param every a number
 */
public record Two(
    @Setting(doc = "updates between two of them, as k_steps of localsgd") int every) {}
