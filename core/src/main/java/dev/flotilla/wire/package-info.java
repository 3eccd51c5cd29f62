/**
 * What travels between ranks in fewer bits: number types, codecs, and sums that are coded on their
 * way.
 */
@NullMarked
package dev.flotilla.wire;

import org.jspecify.annotations.NullMarked;
