/** Chooses the samples that BatchNorm's statistics are taken over. */
@NullMarked
package dev.flotilla.strategy.norm;

import org.jspecify.annotations.NullMarked;
