/**
 * Reads recipes: from a YAML file and options on the command line to a checked {@link
 * dev.flotilla.config.RunConfig}.
 *
 * <p>Everything a recipe may say is written once, as components of settings records with {@link
 * dev.flotilla.settings.Setting}; binding, problems, JSON Schema and the resolved configuration
 * come from there. Whatever is wrong is reported together, each with its place. Nothing here loads
 * libtorch.
 */
@NullMarked
package dev.flotilla.config;

import org.jspecify.annotations.NullMarked;
