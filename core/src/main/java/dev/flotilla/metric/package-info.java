/**
 * What is measured when a model is evaluated: accuracy, F1, AUROC, R² and their like, each sample
 * once whatever the ranks, and a user's own.
 *
 * <p>A {@link dev.flotilla.metric.Metric} is a settings record that recipes name; a {@link
 * dev.flotilla.metric.Tally} counts for it, and merges with those of other ranks.
 */
@NullMarked
package dev.flotilla.metric;

import org.jspecify.annotations.NullMarked;
