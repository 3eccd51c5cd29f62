/** The command line: turns arguments into recipes, runs and launches, and events into text. */
@NullMarked
package dev.flotilla.app;

import org.jspecify.annotations.NullMarked;
