package dev.flotilla.zoo.data;

import dev.flotilla.data.DataSource;
import dev.flotilla.data.Dataset;
import dev.flotilla.data.SampleForm;
import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;
import dev.flotilla.settings.Summary;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Made-up sequences of tokens of any length, for benchmarks; masked as real text is. The first five
 * tokens of the vocabulary are taken for [PAD], [UNK], [CLS], [SEP] and [MASK].
 *
 * @param vocabSize number of tokens
 * @param length tokens of every sequence
 * @param samples number of training sequences
 * @param testSamples number of test sequences
 * @param task what the sequences are for
 * @param classes number of classes, for classification
 */
@Summary("Random tokens as sequences of any length, for benchmarks.")
public record SyntheticTokens(
    @Setting(doc = "Number of tokens, at least 6.", def = "30522") int vocabSize,
    @Setting(doc = "Tokens of every sequence, at least 4.", def = "128") int length,
    @Setting(doc = "Number of training sequences, at least 1.", def = "1024") int samples,
    @Setting(doc = "Number of test sequences, at least 1.", def = "128") int testSamples,
    @Setting(doc = "pretraining, or classification by a random label.", def = "pretraining")
        TextTask task,
    @Setting(doc = "Number of classes, for classification.", def = "2") int classes)
    implements DataSource {

  private static final int MOST_SAMPLES = 100_000_000;
  private static final int LONGEST = 1_000_000;
  private static final int CLS = 2;
  private static final int SEP = 3;
  private static final int MASK = 4;
  private static final int FIRST_PLAIN = 5;

  /** Checks the settings. */
  public SyntheticTokens {
    Check.that(vocabSize > FIRST_PLAIN, "vocab_size", "must be at least 6", vocabSize)
        .and(length >= 4 && length <= LONGEST, "length", "must be from 4 to " + LONGEST, length)
        .and(isSize(samples), "samples", "must be from 1 to " + MOST_SAMPLES, samples)
        .and(isSize(testSamples), "test_samples", "must be from 1 to " + MOST_SAMPLES, testSamples)
        .and(classes >= 2, "classes", "must be at least 2", classes)
        .orThrow();
  }

  private static boolean isSize(int samples) {
    return samples >= 1 && samples <= MOST_SAMPLES;
  }

  /** Does nothing: there is nothing to read. */
  @Override
  public void check() {}

  @Override
  public Optional<SampleForm> form() {
    return Optional.of(
        new SampleForm.Tokens(vocabSize, length, task == TextTask.PRETRAINING ? 0 : classes));
  }

  @Override
  public OptionalInt trainingSize() {
    return OptionalInt.of(samples);
  }

  @Override
  public Dataset train() {
    return dataset(samples, 0);
  }

  @Override
  public Dataset test() {
    return dataset(testSamples, samples);
  }

  private Dataset dataset(int size, int first) {
    var masking = new Masking(vocabSize, MASK, 0.15, new int[] {0, CLS, SEP});
    return new TextDataset(
        new Noise(this, size, first),
        task == TextTask.PRETRAINING ? masking : null,
        new TextPadding(0, 0),
        false);
  }

  /** Random tokens as two sentences of equal length; a function of the sample alone. */
  private record Noise(SyntheticTokens shape, int size, int first) implements TextSource {

    @Override
    public TextSequence sequence(int sample, SampleRandom random) {
      var own = new SampleRandom(2, 0, first + sample);
      int length = shape.length();
      var tokens = new int[length];
      var types = new int[length];
      for (int i = 0; i < length; i++) {
        tokens[i] = FIRST_PLAIN + own.below(shape.vocabSize() - FIRST_PLAIN);
        types[i] = i > length / 2 ? 1 : 0;
      }
      tokens[0] = CLS;
      tokens[length / 2] = SEP;
      tokens[length - 1] = SEP;
      int classes = shape.task() == TextTask.PRETRAINING ? 2 : shape.classes();
      return new TextSequence(tokens, types, TextSequence.positions(length), own.below(classes));
    }

    @Override
    public int length(int sample) {
      return shape.length();
    }
  }
}
