/** Predicts memory and time of combinations of techniques, and recommends one. */
@NullMarked
package dev.flotilla.app.advise;

import org.jspecify.annotations.NullMarked;
