/**
 * Techniques as settings, and the plan they make together.
 *
 * <p>A technique claims phases. Two claims on a phase with one owner are a conflict, which is an
 * error that names both and says what to do. The order in which techniques are listed never
 * matters, and none is ever dropped in silence.
 */
@NullMarked
package dev.flotilla.strategy;

import org.jspecify.annotations.NullMarked;
