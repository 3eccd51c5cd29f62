package dev.flotilla.zoo.table;

import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/**
 * Which columns of a table a model sees, and how.
 *
 * @param include the columns; empty for all but the label
 * @param exclude columns that are left out
 * @param types types by column, where they are not to be inferred
 * @param missing what happens where a cell has no value
 * @param markers texts that stand for no value
 * @param categories how categories become numbers
 * @param scaling what becomes of numbers
 */
public record Columns(
    @Setting(doc = "Columns that the model sees; by default all but the label.", def = "[]")
        List<String> include,
    @Setting(doc = "Columns that it does not see.", def = "[]") List<String> exclude,
    @Setting(
            doc = "Types by column: number, category or ignored; the others are inferred.",
            def = "{}")
        SequencedMap<String, ColumnType> types,
    @Setting(doc = "Where a cell has no value: stop, mean or drop_row.", def = "stop")
        Missing missing,
    @Setting(doc = "Texts that stand for no value.", def = "['', NA, N/A, NaN, nan, 'null', '?']")
        List<String> markers,
    @Setting(doc = "Categories as numbers: one_hot or index.", def = "one_hot")
        CategoryCode categories,
    @Setting(doc = "What becomes of numbers: standardize, min_max or none.", def = "standardize")
        Scaling scaling) {

  private static final List<String> MARKERS = List.of("", "NA", "N/A", "NaN", "nan", "null", "?");

  /** Checks that no column is wanted and unwanted at once. */
  public Columns {
    include = List.copyOf(include);
    exclude = List.copyOf(exclude);
    markers = List.copyOf(markers);
    types = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(types));
    var both = include.stream().filter(exclude::contains).toList();
    Check.that(both.isEmpty(), "exclude", "must hold no column of include", both).orThrow();
  }

  /** All columns, of inferred types, standardized. */
  public static Columns all() {
    return new Columns(
        List.of(),
        List.of(),
        new LinkedHashMap<>(),
        Missing.STOP,
        MARKERS,
        CategoryCode.ONE_HOT,
        Scaling.STANDARDIZE);
  }

  /** Returns these settings with another policy for cells without a value. */
  public Columns withMissing(Missing policy) {
    return new Columns(include, exclude, types, policy, markers, categories, scaling);
  }

  /** Returns these settings with other numbers. */
  public Columns withScaling(Scaling other) {
    return new Columns(include, exclude, types, missing, markers, categories, other);
  }
}
