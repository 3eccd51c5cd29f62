/** Where native libraries come from, and that nobody else put them there. */
@NullMarked
package dev.flotilla.natives;

import org.jspecify.annotations.NullMarked;
