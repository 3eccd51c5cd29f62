/**
 * How a settings record describes and checks itself.
 *
 * <p>A settings record lists its keys as components with {@link dev.flotilla.settings.Setting}, and
 * checks all of them in its compact constructor with {@link dev.flotilla.settings.Check}, so that a
 * user reads every problem at once. Reading recipes is the business of the config package.
 */
@NullMarked
package dev.flotilla.settings;

import org.jspecify.annotations.NullMarked;
