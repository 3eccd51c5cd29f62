/**
 * Rows of numbers in files that another program has written once, with their counts and digests.
 */
@NullMarked
package dev.flotilla.zoo.rows;

import org.jspecify.annotations.NullMarked;
