package dev.flotilla.zoo.data;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Sequences read from lines of numbers.
 *
 * @param sequences in the order of the lines
 */
record LineSequences(List<TextSequence> sequences) implements TextSource {

  @Override
  public int size() {
    return sequences.size();
  }

  @Override
  public TextSequence sequence(int sample, SampleRandom random) {
    return sequences.get(sample);
  }

  @Override
  public int length(int sample) {
    return sequences.get(sample).length();
  }

  /**
   * Reads the lines of a file, or of the files that it names.
   *
   * @throws dev.flotilla.settings.ConfigException with file and line of what is wrong
   */
  static LineSequences read(BertLines settings, Vocabulary vocabulary, String list) {
    var file = settings.path().resolve(list);
    var parser = new SequenceLine(settings, vocabulary);
    List<TextSequence> sequences = new ArrayList<>();
    for (var part : parts(file)) {
      readInto(sequences, part, parser);
    }
    if (sequences.isEmpty()) {
      throw DataProblem.of(file, "holds no sequence", "");
    }
    return new LineSequences(sequences);
  }

  private static List<Path> parts(Path file) {
    try (var reader = Files.newBufferedReader(file)) {
      String first = reader.readLine();
      if (first == null || first.contains(";")) {
        return List.of(file);
      }
    } catch (IOException e) {
      throw DataProblem.unreadable(file, e);
    }
    try {
      return Files.readAllLines(file).stream()
          .filter(name -> !name.isBlank())
          .map(name -> file.resolveSibling(name.strip()))
          .toList();
    } catch (IOException e) {
      throw DataProblem.unreadable(file, e);
    }
  }

  private static void readInto(List<TextSequence> sequences, Path file, SequenceLine parser) {
    try (BufferedReader reader = Files.newBufferedReader(file)) {
      int number = 0;
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        number++;
        sequences.add(parser.parse(file, number, line));
      }
    } catch (IOException e) {
      throw DataProblem.unreadable(file, e);
    }
  }
}
