/**
 * What {@code --secure} adds between the launchers of several hosts: TLS 1.3 in which both ends
 * have a certificate, and connections of ranks that travel inside it.
 *
 * <p>A {@linkplain dev.flotilla.launch.tls.Door door} is the only thing that listens beyond
 * loopback. Whoever comes through has a certificate that is trusted and has proved, for this very
 * connection, that it knows the job's key. Everything waits for a limited time.
 */
@NullMarked
package dev.flotilla.launch.tls;

import org.jspecify.annotations.NullMarked;
