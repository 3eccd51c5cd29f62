/** Draws runs: as one page without network access, as SVG, and as tables of numbers. */
@NullMarked
package dev.flotilla.board.page;

import org.jspecify.annotations.NullMarked;
