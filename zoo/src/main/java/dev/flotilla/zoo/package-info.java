/** Names the zoo's models and data sets for recipes. */
@NullMarked
package dev.flotilla.zoo;

import org.jspecify.annotations.NullMarked;
