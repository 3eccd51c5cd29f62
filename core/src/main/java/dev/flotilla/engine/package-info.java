/**
 * How a step is put together.
 *
 * <p>{@link dev.flotilla.step.StepRunner} is the only home of the order of phases. The engine knows
 * no technique by name: a technique claims phases with {@link dev.flotilla.step.Claim}s, which are
 * factories, so that a plan can be built, checked and printed without native code.
 */
@NullMarked
package dev.flotilla.engine;

import org.jspecify.annotations.NullMarked;
