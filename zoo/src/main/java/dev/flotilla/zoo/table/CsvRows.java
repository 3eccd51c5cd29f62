package dev.flotilla.zoo.table;

import de.siegmar.fastcsv.reader.AbstractBaseCsvCallbackHandler;
import de.siegmar.fastcsv.reader.CloseableIterator;
import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.FieldMismatchStrategy;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.zoo.data.DataProblem;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads UTF-8 text with values between delimiters, names of columns in the first line. */
final class CsvRows implements TableReader {

  private static final int BUFFER = 1 << 16;
  private static final byte[] BYTE_ORDER_MARK = {(byte) 0xef, (byte) 0xbb, (byte) 0xbf};

  private final Path file;
  private final Row row = new Row();
  private final CloseableIterator<Boolean> rows;
  private final List<String> columns;

  CsvRows(Path file, char delimiter) {
    this.file = file;
    this.rows = open(file, delimiter, row);
    this.columns = header();
  }

  private static CloseableIterator<Boolean> open(Path file, char delimiter, Row row) {
    if (Files.isDirectory(file)) {
      throw DataProblem.of(file, "is a folder, but a CSV file is needed", "");
    }
    try {
      // A decoder of its own reports what is no UTF-8; by default it would be replaced.
      var text = new InputStreamReader(bytes(file), StandardCharsets.UTF_8.newDecoder());
      return CsvReader.builder()
          .fieldSeparator(delimiter)
          .extraFieldStrategy(FieldMismatchStrategy.IGNORE)
          .missingFieldStrategy(FieldMismatchStrategy.IGNORE)
          .allowUnclosedQuote(false)
          .build(row, text)
          .iterator();
    } catch (IOException e) {
      throw DataProblem.unreadable(file, e);
    }
  }

  /** Some programs put a byte order mark first, which belongs to no name. */
  private static InputStream bytes(Path file) throws IOException {
    var bytes = new BufferedInputStream(Files.newInputStream(file), BUFFER);
    bytes.mark(BYTE_ORDER_MARK.length);
    if (!Arrays.equals(bytes.readNBytes(BYTE_ORDER_MARK.length), BYTE_ORDER_MARK)) {
      bytes.reset();
    }
    return bytes;
  }

  private List<String> header() {
    var names = new Header();
    if (!advance(names)) {
      throw DataProblem.of(file, "is empty, but names of columns are needed in the first line", "");
    }
    var seen = new HashSet<String>();
    for (int i = 0; i < names.names.size(); i++) {
      String name = names.names.get(i);
      if (name.isEmpty()) {
        throw problem(
            "column %d has no name".formatted(i + 1), "give each column a name in the first line");
      }
      if (!seen.add(name)) {
        throw problem(
            "two columns are called '%s'".formatted(name), "give each column a name of its own");
      }
    }
    return List.copyOf(names.names);
  }

  @Override
  public List<String> columns() {
    return columns;
  }

  @Override
  public boolean next(Cells cells) {
    if (!advance(cells)) {
      return false;
    }
    if (row.fields() != columns.size()) {
      throw problem(
          "expected %d cells, as many as columns, but found %d"
              .formatted(columns.size(), row.fields()),
          "mend the line; a cell that holds a delimiter must stand in quotes");
    }
    return true;
  }

  private boolean advance(Cells cells) {
    row.cells = cells;
    try {
      if (!rows.hasNext()) {
        return false;
      }
      rows.next();
      return true;
    } catch (UncheckedIOException e) {
      throw undecodable(e.getCause());
    } catch (CsvParseException e) {
      throw e.getCause() instanceof ConfigException refused ? refused : unparsable(e);
    }
  }

  private ConfigException undecodable(@Nullable IOException cause) {
    if (cause instanceof CharacterCodingException) {
      return DataProblem.at(
          file,
          row.line == 0 ? "at its beginning" : "at or soon after line " + row.line,
          "is not UTF-8 text",
          "convert it, for example with iconv -f LATIN1 -t UTF-8");
    }
    return DataProblem.unreadable(file, cause == null ? new IOException("unknown") : cause);
  }

  private ConfigException unparsable(CsvParseException failure) {
    var cause = failure.getCause();
    if (cause instanceof IOException damaged) {
      return undecodable(damaged);
    }
    if (cause instanceof UncheckedIOException damaged) {
      return undecodable(damaged.getCause());
    }
    return problem(
        "is not CSV: " + String.valueOf(cause == null ? failure.getMessage() : cause.getMessage()),
        "a quote that opens a cell must be closed, and doubled inside it");
  }

  private ConfigException problem(String what, String fix) {
    return DataProblem.at(file, place(), what, fix);
  }

  @Override
  public String place() {
    return "line " + row.line;
  }

  @Override
  public void close() {
    try {
      rows.close();
    } catch (IOException e) {
      throw DataProblem.unreadable(file, e);
    }
  }

  /** Hands cells on as they are parsed: the reader's buffer moves between them. */
  private static final class Row extends AbstractBaseCsvCallbackHandler<Boolean> {
    private Cells cells = new Header();
    private long line;

    int fields() {
      return getFieldCount();
    }

    @Override
    protected void handleBegin(long startingLineNumber) {
      line = startingLineNumber;
    }

    @Override
    protected void handleField(int field, char[] chars, int from, int length, boolean quoted) {
      cells.text(field, chars, from, length);
    }

    @Override
    protected Boolean buildRecord() {
      return Boolean.TRUE;
    }
  }

  private static final class Header implements Cells {
    private final List<String> names = new ArrayList<>();

    @Override
    public void text(int column, char[] chars, int from, int length) {
      names.add(new String(chars, from, length).strip());
    }

    @Override
    public void number(int column, double value) {
      names.add(String.valueOf(value));
    }

    @Override
    public void missing(int column) {
      names.add("");
    }
  }
}
