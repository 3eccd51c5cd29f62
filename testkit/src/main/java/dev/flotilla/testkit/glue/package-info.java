/** Which functions of libtorch's binding the glue for arm64 holds, and how its source is made. */
@NullMarked
package dev.flotilla.testkit.glue;

import org.jspecify.annotations.NullMarked;
