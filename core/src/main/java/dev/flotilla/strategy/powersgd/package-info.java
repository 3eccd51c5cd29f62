/**
 * PowerSGD: ranks send the gradient of a matrix as two thin factors, and keep the rest for later;
 * nothing is lost.
 */
@NullMarked
package dev.flotilla.strategy.powersgd;

import org.jspecify.annotations.NullMarked;
