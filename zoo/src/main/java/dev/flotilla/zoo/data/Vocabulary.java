package dev.flotilla.zoo.data;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/**
 * The tokens of a vocabulary file and their numbers: one token per line, numbered from 0, or a
 * token and its number with a tab between; or those of a {@code tokenizer.json} of Hugging Face.
 *
 * @param file where it was read from
 * @param ids numbers by token
 */
record Vocabulary(Path file, SequencedMap<String, Integer> ids) {

  static final String KEY = "data.vocabulary";

  /**
   * Reads a file.
   *
   * @throws dev.flotilla.settings.ConfigException if it is missing or malformed, or lacks a token
   *     that masking needs
   */
  static Vocabulary read(Path file) {
    var ids = isTokenizer(file) ? TokenizerFile.tokens(file) : listed(file);
    var vocabulary = new Vocabulary(file, Collections.unmodifiableSequencedMap(ids));
    for (String token : new String[] {"[PAD]", "[CLS]", "[SEP]", "[MASK]"}) {
      vocabulary.require(token);
    }
    return vocabulary;
  }

  private static SequencedMap<String, Integer> listed(Path file) {
    var ids = new LinkedHashMap<String, Integer>();
    int number = 0;
    for (String line : lines(file)) {
      number++;
      add(file, ids, line, number);
    }
    return ids;
  }

  private static boolean isTokenizer(Path file) {
    return file.toString().endsWith(".json");
  }

  /** Tells whether the file also says how text is split: a tokenizer of Hugging Face. */
  boolean isTokenizer() {
    return isTokenizer(file);
  }

  private static Iterable<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (NoSuchFileException _) {
      throw DataProblem.in(KEY, file + ": no such file", "name the vocabulary of the model");
    } catch (CharacterCodingException _) {
      throw DataProblem.in(KEY, file + ": is not UTF-8 text", "");
    } catch (IOException e) {
      throw DataProblem.in(KEY, file + ": cannot be read: " + e.getMessage(), "");
    }
  }

  private static void add(Path file, LinkedHashMap<String, Integer> ids, String line, int number) {
    int tab = line.indexOf('\t');
    String token = tab < 0 ? line : line.substring(0, tab);
    int id = tab < 0 ? number - 1 : id(file, line.substring(tab + 1), number);
    if (token.isEmpty() || ids.putIfAbsent(token, id) != null) {
      String what = token.isEmpty() ? "an empty token" : "'" + token + "' a second time";
      throw DataProblem.in(KEY, "%s, line %d: %s".formatted(file, number, what), "");
    }
  }

  private static int id(Path file, String text, int number) {
    if (!text.matches("[0-9]{1,9}")) {
      throw DataProblem.in(
          KEY,
          "%s, line %d: expected a number after the tab, but found '%s'"
              .formatted(file, number, text),
          "");
    }
    return Integer.parseInt(text);
  }

  /** Returns the number of a token that must be there. */
  int require(String token) {
    var id = ids.get(token);
    if (id == null) {
      throw DataProblem.in(
          KEY,
          "%s: holds %d tokens, but no %s".formatted(file, ids.size(), token),
          "use the vocabulary that belongs to the model");
    }
    return id;
  }

  /** Returns a number above that of every token. */
  int size() {
    return ids.values().stream().mapToInt(Integer::intValue).max().orElse(-1) + 1;
  }
}
