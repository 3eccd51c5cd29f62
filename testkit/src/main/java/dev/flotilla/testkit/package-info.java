/**
 * What tests of distributed training need: ranks as threads and as processes, a collective that
 * records, and a probe for leaks.
 */
@NullMarked
package dev.flotilla.testkit;

import org.jspecify.annotations.NullMarked;
