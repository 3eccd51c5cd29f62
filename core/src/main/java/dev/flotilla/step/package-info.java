/**
 * How a step is put together.
 *
 * <p>{@link dev.flotilla.step.StepRunner} is the only home of the order of phases. It knows no
 * technique by name: a technique claims phases with {@link dev.flotilla.step.Claim}s, which are
 * data, so that a plan can be built, checked and printed without native code, and makes its {@link
 * dev.flotilla.step.Workers} once the run begins.
 */
@NullMarked
package dev.flotilla.step;

import org.jspecify.annotations.NullMarked;
