package dev.flotilla.strategy.compress;

/**
 * The momentum that lives inside the compression.
 *
 * @param momentum m; 0 for plain descent
 * @param nesterov whether to look ahead
 * @param masksMomentum whether the velocity of what was sent is cleared, so that stale momentum
 *     does not carry it on; only tests switch it off
 */
record Rule(double momentum, boolean nesterov, boolean masksMomentum) {}
