/** What happens during a run, as events for people and for machines. */
@NullMarked
package dev.flotilla.report;

import org.jspecify.annotations.NullMarked;
