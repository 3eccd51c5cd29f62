/**
 * What is trained: chains of segments over named parameters.
 *
 * <p>A model states its parameters as data, so that plans and byte counts need no libtorch. A
 * segment maps activations to activations; recompute, offload, gathering and metering live at
 * segment boundaries.
 */
@NullMarked
package dev.flotilla.model;

import org.jspecify.annotations.NullMarked;
