/** What people have probably meant by what they wrote. */
@NullMarked
package dev.flotilla.text;

import org.jspecify.annotations.NullMarked;
