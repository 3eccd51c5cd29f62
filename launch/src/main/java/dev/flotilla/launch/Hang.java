package dev.flotilla.launch;

import dev.flotilla.control.Peer;
import java.time.Duration;

/**
 * A rank or host of which nothing was heard for too long.
 *
 * @param peer which
 * @param silence for how long
 * @param isGone whether it has ended its connection, rather than fallen silent
 * @param cause what is known about it
 */
record Hang(Peer peer, Duration silence, boolean isGone, String cause) {}
