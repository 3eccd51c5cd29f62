/**
 * Optimizers over arena slices, and learning-rate schedules.
 *
 * <p>An optimizer is a settings record; binding it to parameter groups makes the object that
 * remembers. Schedules are pure functions of the number of updates.
 */
@NullMarked
package dev.flotilla.optim;

import org.jspecify.annotations.NullMarked;
