/** Looks at a host, and at the links between ranks, before somebody trains there. */
@NullMarked
package dev.flotilla.app.doctor;

import org.jspecify.annotations.NullMarked;
