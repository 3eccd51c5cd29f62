package dev.flotilla.zoo.table;

import dev.flotilla.data.Dataset;
import dev.flotilla.data.SampleForm;
import dev.flotilla.zoo.data.ClassifiedTexts;
import dev.flotilla.zoo.data.DataProblem;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A table by its settings: reads each file once, when it is asked for, and learns of it. */
final class TableData {

  private final TableSource source;
  private @Nullable Learned learned;
  private @Nullable TableRowsOf training;
  private @Nullable TableRowsOf testing;

  /** What was learned, and of which rows. */
  private record Learned(Preprocessing preprocessing, @Nullable TableRowsOf rows) {}

  /** Some rows of a table, whose categories a map may have to translate into those learned. */
  @SuppressWarnings("ArrayRecordComponent") // Never compared; made and read in this package only.
  record TableRowsOf(Table table, int[] numbers, int[][] maps) {}

  TableData(TableSource source) {
    this.source = source;
  }

  TableSource source() {
    return source;
  }

  /** Returns what was learned on the training rows, or by the run that settings name. */
  synchronized Preprocessing preprocessing() {
    return learned().preprocessing();
  }

  private Learned learned() {
    var known = learned;
    if (known == null) {
      var file = source.preprocessing();
      known = file == null ? learn() : new Learned(Preprocessing.read(file), null);
      learned = known;
    }
    return known;
  }

  private Learned learn() {
    var file = source.path().path();
    var table = readToLearn(file);
    var split = source.isSplit() ? split(table) : null;
    int[] rows = split == null ? all(table) : split.training();
    var statistics = new Statistics(table.plan());
    var row = new float[table.plan().width()];
    for (int number : rows) {
      table.copy(number, row);
      statistics.add(row);
    }
    var known = Preprocessing.learn(file, table.plan(), source, statistics, table.dictionaries());
    int[][] maps = maps(table, known);
    if (split != null) {
      testing = new TableRowsOf(table, split.test(), maps);
    }
    return new Learned(known, new TableRowsOf(table, rows, maps));
  }

  private Table readToLearn(Path file) {
    TablePlan plan;
    try (var reader = source.open(file)) {
      plan = PlanInference.plan(file, reader, source);
    }
    List<Dictionary> dictionaries = new ArrayList<>();
    for (int at = 0; at < plan.width(); at++) {
      dictionaries.add(new Dictionary());
    }
    try (var parser = new RowParser(file, source.open(file), plan, dictionaries, true, true)) {
      return requireRows(Table.read(file, plan, parser));
    }
  }

  private static Table requireRows(Table table) {
    if (table.rows() == 0) {
      throw DataProblem.of(
          table.file(),
          table.dropped() == 0
              ? "holds names of columns, but no row"
              : "holds no row without a missing value",
          "");
    }
    return table;
  }

  private Split split(Table table) {
    double fraction = Objects.requireNonNull(source.testFraction());
    var split = Split.of(table.rows(), fraction, source.splitSeed());
    if (split.training().length == 0 || split.test().length == 0) {
      throw DataProblem.in(
          "data.test_fraction",
          "%s of the %d rows of %s leave none to train or none to test with"
              .formatted(fraction, table.rows(), table.file()),
          "choose another fraction, or name a file of its own in data.test_path");
    }
    return split;
  }

  private static int[] all(Table table) {
    var numbers = new int[table.rows()];
    Arrays.setAll(numbers, i -> i);
    return numbers;
  }

  /** Translates numbers of categories in the order of the file into those learned. */
  private static int[][] maps(Table table, Preprocessing learned) {
    var plan = table.plan();
    var known = learned.dictionaries();
    var maps = new int[plan.width()][];
    for (int at = 0; at < plan.width(); at++) {
      var met = table.dictionaries().get(at);
      maps[at] = new int[plan.isCategory(at) ? met.names().size() : 0];
      for (int i = 0; i < maps[at].length; i++) {
        String name = met.names().get(i);
        maps[at][i] = known.get(at).find(name);
        if (maps[at][i] < 0) {
          throw RowParser.unseen(
              at, table.file(), met.placeOf(i), name, known.get(at).names(), plan);
        }
      }
    }
    return maps;
  }

  /** Returns the rows to train with. */
  synchronized TableRowsOf training() {
    var known = training;
    if (known == null) {
      var rows = learned().rows();
      known = rows != null ? rows : readPart(source.path().path(), true, true);
      training = known;
    }
    return known;
  }

  /**
   * Returns the rows to test with.
   *
   * @throws dev.flotilla.settings.ConfigException if they have no labels
   */
  TableRowsOf testing() {
    var rows = perhapsUnlabelled();
    if (!rows.table().hasLabel()) {
      var plan = rows.table().plan();
      throw DataProblem.of(
          rows.table().file(),
          "has no column '%s', which answers are compared with".formatted(plan.label()),
          "add it; prediction needs none");
    }
    return rows;
  }

  /**
   * Returns the rows to predict, whose labels may be missing altogether.
   *
   * @throws dev.flotilla.settings.ConfigException if one was left out: predictions are counted by
   *     row
   */
  TableRowsOf unlabelled() {
    var rows = perhapsUnlabelled();
    if (rows.table().dropped() > 0 && source.preprocessing() != null) {
      throw DataProblem.at(
          rows.table().file(),
          rows.table().firstDropped(),
          "a value is missing, but no row can be left out of predictions",
          "mend the row, or remove it");
    }
    return rows;
  }

  private synchronized TableRowsOf perhapsUnlabelled() {
    var known = testing;
    if (known == null) {
      // What learns of a file that is split knows its rows to test with, too.
      var _ = learned();
      known = testing;
    }
    if (known == null) {
      var file = source.testPath();
      boolean isOther = source.preprocessing() != null;
      known = readPart(file == null ? source.path().path() : file, false, !isOther);
      testing = known;
    }
    return known;
  }

  /** Reads a file by what was learned before: whole, or its part to test or train with. */
  private TableRowsOf readPart(Path file, boolean isForTraining, boolean needsLabel) {
    var known = learned().preprocessing();
    var plan = known.plan();
    try (var parser =
        new RowParser(file, source.open(file), plan, known.dictionaries(), false, needsLabel)) {
      var table = requireRows(Table.read(file, plan, parser));
      int[] rows = all(table);
      if (source.isSplit()) {
        var split = split(table);
        rows = isForTraining ? split.training() : split.test();
      }
      return new TableRowsOf(table, rows, new int[plan.width()][0]);
    }
  }

  /** Reads everything that is not read yet. */
  void check() {
    if (source.preprocessing() == null) {
      var _ = testing();
    } else {
      var _ = perhapsUnlabelled();
    }
  }

  SampleForm form() {
    var known = preprocessing();
    var text = known.plan().text();
    return text == null
        ? new SampleForm.Numbers(known.width(), known.classes().size())
        : new SampleForm.Tokens(
            ClassifiedTexts.vocabularySize(text.vocabulary()),
            text.maxSeqLen(),
            known.classes().size());
  }

  Dataset dataset(TableRowsOf rows) {
    var known = preprocessing();
    var text = known.plan().text();
    if (text == null) {
      return new TableDataset(rows, known);
    }
    List<String> texts = new ArrayList<>();
    var labels = new int[rows.numbers().length];
    var row = new float[rows.table().plan().width()];
    for (int i = 0; i < labels.length; i++) {
      texts.add(rows.table().text(rows.numbers()[i]));
      rows.table().copy(rows.numbers()[i], row);
      labels[i] =
          TableDataset.mapped(rows, known.plan().labelAt(), (int) row[known.plan().labelAt()]);
    }
    return ClassifiedTexts.dataset(
        texts, labels, text.vocabulary(), text.lowercase(), text.maxSeqLen());
  }

  /** Says what was left out or filled in. */
  List<String> notes() {
    List<String> notes = new ArrayList<>();
    var tables = new ArrayList<Table>();
    for (var rows : List.of(training(), perhapsUnlabelled())) {
      if (!tables.contains(rows.table())) {
        tables.add(rows.table());
        note(rows.table(), notes);
      }
    }
    return Collections.unmodifiableList(notes);
  }

  private static void note(Table table, List<String> notes) {
    if (table.dropped() > 0) {
      notes.add(
          "%s: %,d rows with a missing value are left out, %,d are used"
              .formatted(table.file(), table.dropped(), table.rows()));
    }
    for (int at = 0; at < table.plan().features().size(); at++) {
      if (table.filled(at) > 0) {
        notes.add(
            "%s: %,d missing values of column '%s' are filled in"
                .formatted(table.file(), table.filled(at), table.plan().nameAt(at)));
      }
    }
  }
}
