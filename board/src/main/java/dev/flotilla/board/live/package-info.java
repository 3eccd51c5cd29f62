/** The live board: a small web server that reads run folders and shows them in a browser. */
@NullMarked
package dev.flotilla.board.live;

import org.jspecify.annotations.NullMarked;
