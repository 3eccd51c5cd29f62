package dev.flotilla.step;

/**
 * Where the time of a rank's steps went since it was started, in seconds of the thread that trains.
 *
 * <p>On a GPU these are the times in which work is handed over to it, as nothing waits for the
 * device on purpose.
 *
 * @param forward forward passes with the loss
 * @param backward backward passes, with what they recompute
 * @param exchange waiting until gradients, or parameters, are reduced over ranks
 * @param update filters, the optimizer, moving averages
 * @param hidden part of backward in which buckets were reduced meanwhile
 */
public record StepSeconds(
    double forward, double backward, double exchange, double update, double hidden) {}
