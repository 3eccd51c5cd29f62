/**
 * The engine for people who write their own loop, as Colossal-AI's Booster has it: {@link
 * dev.flotilla.booster.Booster#with} a plugin, boost a model, and call the parts of a step.
 */
@NullMarked
package dev.flotilla.booster;

import org.jspecify.annotations.NullMarked;
