package dev.flotilla.zoo.table;

import java.util.List;
import java.util.Map;

/**
 * What was learned of a column on training rows.
 *
 * @param name of the column
 * @param type NUMBER or CATEGORY
 * @param center what is subtracted of a number
 * @param scale what it is divided by then
 * @param fill what stands in for a missing number, or the number of the category that does
 * @param categories sorted by text; none for numbers
 */
record Feature(
    String name,
    ColumnType type,
    double center,
    double scale,
    double fill,
    List<String> categories) {

  boolean isNumber() {
    return type == ColumnType.NUMBER;
  }

  int width(CategoryCode code) {
    return isNumber() || code == CategoryCode.INDEX ? 1 : categories.size();
  }

  Map<String, Object> values() {
    return isNumber()
        ? JsonMap.of("name", name, "type", "number", "center", center, "scale", scale, "fill", fill)
        : JsonMap.of("name", name, "type", "category", "fill", fill, "categories", categories);
  }

  static Feature of(JsonMap values) {
    boolean isNumber = values.text("type").equals("number");
    return isNumber
        ? new Feature(
            values.text("name"),
            ColumnType.NUMBER,
            values.number("center"),
            values.number("scale"),
            values.number("fill"),
            List.of())
        : new Feature(
            values.text("name"),
            ColumnType.CATEGORY,
            0,
            1,
            values.number("fill"),
            values.texts("categories"));
  }
}
