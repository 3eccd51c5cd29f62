/** Placeholder. */
@NullMarked
package dev.flotilla.model;

import org.jspecify.annotations.NullMarked;
