package dev.flotilla.zoo.table;

import dev.flotilla.data.Batch;
import dev.flotilla.data.Dataset;
import dev.flotilla.memory.Tensors;
import java.util.List;
import org.bytedeco.pytorch.Tensor;

/** Rows of a table: float32 [n, numbers], with classes int64 [n] or a number float32 [n, 1]. */
final class TableDataset implements Dataset {

  private final TableData.TableRowsOf rows;
  private final Preprocessing preprocessing;
  private final int width;

  TableDataset(TableData.TableRowsOf rows, Preprocessing preprocessing) {
    this.rows = rows;
    this.preprocessing = preprocessing;
    this.width = preprocessing.width();
  }

  @Override
  public int size() {
    return rows.numbers().length;
  }

  @Override
  public Batch load(int[] samples) {
    int count = samples.length;
    var plan = preprocessing.plan();
    var row = new float[plan.width()];
    var encoded = new float[Math.multiplyExact(count, width)];
    var labels = new float[count];
    for (int i = 0; i < count; i++) {
      rows.table().copy(rows.numbers()[samples[i]], row);
      for (int at = 0; at < row.length; at++) {
        row[at] =
            rows.maps()[at].length == 0 || Float.isNaN(row[at])
                ? row[at]
                : mapped(rows, at, (int) row[at]);
      }
      preprocessing.encode(row, encoded, i * width);
      labels[i] = row[plan.labelAt()];
    }
    return new Batch(
        List.of(Tensors.ofFloats(encoded, count, width)), targets(labels, plan.task()), count);
  }

  private static Tensor targets(float[] labels, TableTask task) {
    if (task == TableTask.REGRESSION) {
      return Tensors.ofFloats(labels, labels.length, 1);
    }
    var classes = new long[labels.length];
    for (int i = 0; i < classes.length; i++) {
      classes[i] = (long) labels[i];
    }
    return Tensors.ofLongs(classes);
  }

  /** Returns the learned number of a category. */
  static int mapped(TableData.TableRowsOf rows, int at, int number) {
    var map = rows.maps()[at];
    return map.length == 0 ? number : map[number];
  }
}
