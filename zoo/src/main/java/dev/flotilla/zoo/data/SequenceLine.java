package dev.flotilla.zoo.data;

import dev.flotilla.settings.ConfigException;
import java.nio.file.Path;
import java.util.Arrays;

/** Reads a line of {@code token ids;sentence ids;position ids;label}. */
final class SequenceLine {

  private static final String[] FIELDS = {"token ids", "sentence ids", "position ids", "label"};

  private final BertLines settings;
  private final int vocabSize;

  SequenceLine(BertLines settings, Vocabulary vocabulary) {
    this.settings = settings;
    this.vocabSize = vocabulary.size();
  }

  TextSequence parse(Path file, int number, String line) {
    var fields = line.split(";", -1);
    if (fields.length != FIELDS.length) {
      throw problem(
          file,
          number,
          "expected 4 fields (token ids;sentence ids;position ids;label), but found "
              + fields.length);
    }
    int[] tokens = numbers(file, number, fields, 0, vocabSize);
    int[] types = numbers(file, number, fields, 1, 2);
    int[] positions = numbers(file, number, fields, 2, Integer.MAX_VALUE);
    if (types.length != tokens.length || positions.length != tokens.length) {
      throw problem(
          file,
          number,
          "expected as many sentence ids and position ids as the %d token ids, but found %d and %d"
              .formatted(tokens.length, types.length, positions.length));
    }
    int label = label(numbers(file, number, fields, 3, Integer.MAX_VALUE), file, number);
    return fit(new TextSequence(tokens, types, positions, label), file, number);
  }

  private static int[] numbers(Path file, int number, String[] fields, int field, int bound) {
    var words = fields[field].strip().split(" +", -1);
    var values = new int[words.length];
    for (int i = 0; i < words.length; i++) {
      boolean isNumber = words[i].matches("[0-9]{1,9}");
      if (!isNumber || Integer.parseInt(words[i]) >= bound) {
        throw problem(
            file,
            number,
            "expected a number from 0 to %d at position %d of the %s, but found '%s'"
                .formatted(bound - 1, i, FIELDS[field], words[i]));
      }
      values[i] = Integer.parseInt(words[i]);
    }
    return values;
  }

  /** Lines say 1 where the second sentence follows; BERT's head says 0. */
  private int label(int[] values, Path file, int number) {
    if (values.length != 1) {
      throw problem(file, number, "expected one label, but found " + values.length);
    }
    boolean isClass = settings.task() == TextTask.CLASSIFICATION;
    int classes = isClass ? settings.classes() : 2;
    if (values[0] >= classes) {
      throw problem(
          file,
          number,
          "expected a label from 0 to %d, but found %d".formatted(classes - 1, values[0]));
    }
    return isClass ? values[0] : 1 - values[0];
  }

  private TextSequence fit(TextSequence sequence, Path file, int number) {
    int longest = settings.maxSeqLen();
    if (sequence.length() <= longest) {
      return sequence;
    }
    if (settings.tooLong() == TooLong.ERROR) {
      throw DataProblem.at(
          file,
          "line " + number,
          "the sequence has %d tokens, more than max_seq_len %d"
              .formatted(sequence.length(), longest),
          "raise data.max_seq_len, or set data.too_long: truncate");
    }
    int[] tokens = Arrays.copyOf(sequence.tokens(), longest);
    tokens[longest - 1] = sequence.tokens()[sequence.length() - 1];
    return new TextSequence(
        tokens,
        Arrays.copyOf(sequence.types(), longest),
        Arrays.copyOf(sequence.positions(), longest),
        sequence.label());
  }

  private static ConfigException problem(Path file, int number, String what) {
    return DataProblem.at(file, "line " + number, what, "");
  }
}
