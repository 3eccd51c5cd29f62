/** Reads what a run has left in its folder, while it goes on and after it has ended. */
@NullMarked
package dev.flotilla.board.run;

import org.jspecify.annotations.NullMarked;
