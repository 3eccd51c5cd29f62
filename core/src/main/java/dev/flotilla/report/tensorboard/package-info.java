/** Event files that TensorBoard reads: scalars, texts and histograms. */
@NullMarked
package dev.flotilla.report.tensorboard;

import org.jspecify.annotations.NullMarked;
