/**
 * Deep Gradient Compression: ranks send only the few gradients that matter now, and keep the rest
 * for later; nothing is lost.
 */
@NullMarked
package dev.flotilla.strategy.compress;

import org.jspecify.annotations.NullMarked;
