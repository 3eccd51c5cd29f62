/** Tables in Parquet files, found by the service loader. */
@NullMarked
package dev.flotilla.parquet;

import org.jspecify.annotations.NullMarked;
