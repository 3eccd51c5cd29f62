/**
 * The control channel between a launcher and its ranks, and between the launchers of several hosts.
 *
 * <p>Heartbeats, reports and the agreement to stop go through it, so that none of them depends on a
 * collective. Frames are typed and of limited length; whoever connects must know the job's key. A
 * rank's progress and its last collectives lie in a file that its launcher maps too, so that they
 * can be read after the rank has died.
 *
 * <p>Training code sees {@link dev.flotilla.control.JobLink} alone.
 */
@NullMarked
package dev.flotilla.control;

import org.jspecify.annotations.NullMarked;
