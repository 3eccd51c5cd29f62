/**
 * Starts, watches and stops the ranks of one host.
 *
 * <p>Every host of a job runs its own {@link dev.flotilla.launch.Launcher}. A launcher never loads
 * native libraries of the training, so that no crash of a rank can take it along. It promises: the
 * first failure is named with its cause; after it all ranks of this host end within ten seconds;
 * and no process, temporary file or thread outlives the launcher, also when it is killed itself.
 *
 * <p>Ranks are started through {@link dev.flotilla.launch.RankMain}, which ends a rank when its
 * launcher is gone and notes why a rank failed.
 */
@NullMarked
package dev.flotilla.launch;

import org.jspecify.annotations.NullMarked;
