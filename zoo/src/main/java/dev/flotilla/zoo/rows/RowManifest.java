package dev.flotilla.zoo.rows;

import dev.flotilla.zoo.data.DataProblem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The list of a folder's files, which is written behind them: a folder without it is not whole.
 *
 * <p>Its first line is {@code flotilla rows 1}, then follow {@code columns N}, {@code classes N},
 * and one line {@code train FILE ROWS SHA256} or {@code test FILE ROWS SHA256} for each file.
 *
 * @param columns numbers of a row
 * @param classes number of classes
 * @param train files to train on, in the order of their rows
 * @param test files to test with
 */
record RowManifest(int columns, int classes, List<RowShard> train, List<RowShard> test) {

  private static final String NAME = "rows.manifest";
  private static final String FIRST = "flotilla rows 1";
  private static final Pattern NUMBER = Pattern.compile("(columns|classes) ([1-9]\\d{0,8})");
  private static final Pattern SHARD =
      Pattern.compile("(train|test) ([A-Za-z0-9_-][A-Za-z0-9._-]*) (\\d{1,9}) ([0-9a-f]{64})");

  /** Reads the list of a folder. */
  static RowManifest read(Path folder) {
    var file = folder.resolve(NAME);
    try {
      return parse(folder, file, Files.readAllLines(file));
    } catch (IOException e) {
      throw DataProblem.unreadable(file, e);
    }
  }

  private static RowManifest parse(Path folder, Path file, List<String> lines) {
    if (lines.size() < 4 || !lines.getFirst().equals(FIRST)) {
      throw DataProblem.of(file, "does not begin with '%s'".formatted(FIRST), "");
    }
    int columns = number(file, lines, 1, "columns");
    int classes = number(file, lines, 2, "classes");
    List<RowShard> train = new ArrayList<>();
    List<RowShard> test = new ArrayList<>();
    for (int i = 3; i < lines.size(); i++) {
      var words = SHARD.matcher(lines.get(i));
      requireMatch(words, file, i, "train|test FILE ROWS SHA256");
      var list = words.group(1).equals("train") ? train : test;
      var shard = folder.resolve(words.group(2));
      list.add(new RowShard(shard, Integer.parseInt(words.group(3)), columns, words.group(4)));
    }
    return new RowManifest(columns, classes, List.copyOf(train), List.copyOf(test));
  }

  private static int number(Path file, List<String> lines, int line, String name) {
    var words = NUMBER.matcher(lines.get(line));
    requireMatch(words, file, line, name + " N");
    if (!words.group(1).equals(name)) {
      throw DataProblem.at(file, "line " + (line + 1), "must be '%s N'".formatted(name), "");
    }
    return Integer.parseInt(words.group(2));
  }

  private static void requireMatch(Matcher words, Path file, int line, String form) {
    if (!words.matches()) {
      throw DataProblem.at(file, "line " + (line + 1), "must be '%s'".formatted(form), "");
    }
  }

  /** Returns the number of training rows. */
  long trainRows() {
    return train.stream().mapToLong(RowShard::rows).sum();
  }
}
