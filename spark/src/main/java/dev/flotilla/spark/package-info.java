/**
 * Trains a recipe of Flotilla inside a Spark application: one barrier task per rank, and in each
 * task a child process with a JVM of its own, so that native code never ends an executor.
 *
 * <p>Spark's JVMs load the classes of this package alone; what they start comes from a folder with
 * Flotilla on every executor's host.
 */
@NullMarked
package dev.flotilla.spark;

import org.jspecify.annotations.NullMarked;
