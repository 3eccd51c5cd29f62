/**
 * Reads Python's pickles as data: nothing in them is ever looked up, called or executed.
 *
 * <p>A pickle is a program that builds objects by calling functions it names. This reader builds a
 * description instead, refuses every name that is not on a list, and leaves it to the caller to
 * know what a described call stands for.
 */
@NullMarked
package dev.flotilla.pickle;

import org.jspecify.annotations.NullMarked;
