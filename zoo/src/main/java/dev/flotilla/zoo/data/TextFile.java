package dev.flotilla.zoo.data;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A text as tokens.
 *
 * @param file where it was read from
 * @param documents documents of sentences of tokens, none of them empty
 */
record TextFile(Path file, List<List<int[]>> documents) {

  /**
   * Reads and tokenizes a file.
   *
   * @throws dev.flotilla.settings.ConfigException if it cannot be read or holds no sentence
   */
  static TextFile read(Path file, Vocabulary vocabulary, boolean lowercase) {
    var lines = lines(file);
    List<List<int[]>> documents = new ArrayList<>();
    List<int[]> document = new ArrayList<>();
    try (var pieces = new WordPiece(vocabulary, lowercase)) {
      for (int[] sentence : pieces.encode(lines)) {
        if (sentence.length > 0) {
          document.add(sentence);
        } else if (!document.isEmpty()) {
          documents.add(document);
          document = new ArrayList<>();
        }
      }
    }
    if (!document.isEmpty()) {
      documents.add(document);
    }
    if (documents.isEmpty()) {
      throw DataProblem.of(file, "holds no sentence", "");
    }
    return new TextFile(file, documents);
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (java.nio.charset.CharacterCodingException e) {
      throw DataProblem.of(file, "is not UTF-8 text", "convert it to UTF-8");
    } catch (IOException e) {
      throw DataProblem.unreadable(file, e);
    }
  }

  static void requireReadable(Path file) {
    if (!Files.isRegularFile(file) || !Files.isReadable(file)) {
      throw DataProblem.of(file, "no such file, or it cannot be read", "");
    }
  }
}
