/**
 * Tables in files: what of each column a model sees, learned on training rows alone and saved with
 * the model.
 */
@NullMarked
package dev.flotilla.zoo.table;

import org.jspecify.annotations.NullMarked;
