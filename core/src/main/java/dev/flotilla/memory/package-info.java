/**
 * Who owns native memory.
 *
 * <p>Every native temporary is born inside a {@link dev.flotilla.memory.TensorScope} and dies with
 * it; what must live longer is handed over by name. The garbage collector is never relied on.
 */
@NullMarked
package dev.flotilla.memory;

import org.jspecify.annotations.NullMarked;
