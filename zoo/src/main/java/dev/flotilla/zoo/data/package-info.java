/**
 * Data sets people know: the embedded {@link dev.flotilla.zoo.data.Digits} and {@link
 * dev.flotilla.zoo.data.Mnist} from a folder.
 *
 * <p>Files are read strictly: a damaged one is named with the place of the damage, before training
 * starts, and never makes a short epoch.
 */
@NullMarked
package dev.flotilla.zoo.data;

import org.jspecify.annotations.NullMarked;
