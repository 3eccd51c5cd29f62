/** Models people know, as lists of segments with the parameter names of the reference models. */
@NullMarked
package dev.flotilla.zoo.model;

import org.jspecify.annotations.NullMarked;
