package dev.flotilla.bench;

import dev.flotilla.memory.ProcessMemory;
import dev.flotilla.zoo.table.Csv;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * How quick CSV files are: {@code CsvTime FILE [ROWS]} makes a file of 30 columns of numbers and a
 * label there, unless there is one, reads it a few times, and says how many rows a second, and how
 * much memory the process has taken for each byte of the table.
 */
public final class CsvTime {

  private static final int COLUMNS = 30;
  private static final int ROUNDS = 5;

  private CsvTime() {}

  /** Measures one file. */
  public static void main(String[] args) throws IOException {
    var file = Path.of(args[0]);
    int rows = args.length > 1 ? Integer.parseInt(args[1]) : 1_000_000;
    if (!Files.exists(file)) {
      make(file, rows);
    }
    long before = ProcessMemory.residentBytes();
    for (int round = 0; round < ROUNDS; round++) {
      load(file, before);
      System.gc();
    }
    stream(file);
  }

  private static void load(Path file, long before) {
    long start = cpuTime();
    var data = Csv.of(file, "label");
    data.check();
    double seconds = (cpuTime() - start) / 1e9;
    int rows = data.train().size() + data.test().size();
    long table = (long) rows * (COLUMNS + 1) * Float.BYTES;
    System.out.printf(
        Locale.ROOT,
        "loaded %,d rows of %d columns in %.2f s, %,.0f rows/s; %.2f of the table's %d MiB%n",
        rows,
        COLUMNS,
        seconds,
        rows / seconds,
        (double) (ProcessMemory.residentBytes() - before) / table,
        table >> 20);
  }

  private static void stream(Path file) {
    long start = cpuTime();
    long rows = 0;
    double sum = 0;
    try (var all = Csv.of(file, "label").testedOn(file).stream()) {
      while (all.hasNext()) {
        sum += all.next().features()[0];
        rows++;
      }
    }
    double seconds = (cpuTime() - start) / 1e9;
    System.out.printf(
        Locale.ROOT,
        "streamed %,d rows in two passes in %.2f s, %,.0f rows/s; mean %.1e%n",
        rows,
        seconds,
        rows / seconds,
        sum / rows);
  }

  /** The core's time, so that what else the machine does is of no matter. */
  private static long cpuTime() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  private static void make(Path file, int rows) throws IOException {
    var random = new SplittableRandom(7);
    try (var out = Files.newBufferedWriter(file)) {
      for (int i = 0; i < COLUMNS; i++) {
        out.write("c" + i + ",");
      }
      out.write("label\n");
      for (int row = 0; row < rows; row++) {
        var line = new StringBuilder();
        for (int i = 0; i < COLUMNS; i++) {
          line.append(number(random, i % 3)).append(',');
        }
        out.append(line).append(random.nextBoolean() ? "benign\n" : "malignant\n");
      }
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  /** As in measurements: few digits, and some whole numbers. */
  private static String number(SplittableRandom random, int kind) {
    return switch (kind) {
      case 0 -> String.valueOf(random.nextInt(10_000));
      case 1 -> String.valueOf(random.nextInt(1_000_000) / 10_000.0);
      default -> String.valueOf(random.nextInt(100_000) / 100_000.0);
    };
  }
}
