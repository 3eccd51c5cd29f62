/**
 * Forward and backward: a bound model, the segments that run through it, what is kept for backward
 * or computed again, and evaluation.
 *
 * <p>It knows neither ranks' exchange of gradients nor any technique.
 */
@NullMarked
package dev.flotilla.pass;

import org.jspecify.annotations.NullMarked;
