/**
 * How ranks exchange the gradients of a window: buckets, their arrival during backward, the thread
 * that reduces them, and what that takes.
 */
@NullMarked
package dev.flotilla.exchange;

import org.jspecify.annotations.NullMarked;
