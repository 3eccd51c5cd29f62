/**
 * What a trained model is for: its answers to new samples, from a run's folder or from published
 * weights, and its way to other programs.
 */
@NullMarked
package dev.flotilla.predict;

import org.jspecify.annotations.NullMarked;
