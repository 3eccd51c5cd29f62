package dev.flotilla.zoo.data;

import dev.flotilla.data.Batch;
import dev.flotilla.data.Dataset;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Sequences for BERT: masked anew in every epoch where there is a masking, classified by their
 * label where there is none.
 */
final class TextDataset implements Dataset {

  /** Evaluation masks the same positions every time. */
  private static final long EVALUATION = -1;

  private final TextSource source;
  private final @Nullable Masking masking;
  private final TextPadding padding;
  private final boolean inTokens;

  TextDataset(TextSource source, @Nullable Masking masking, TextPadding padding, boolean inTokens) {
    this.source = source;
    this.masking = masking;
    this.padding = padding;
    this.inTokens = inTokens;
  }

  @Override
  public int size() {
    return source.size();
  }

  @Override
  public Batch load(int[] samples) {
    return load(samples, sample -> new SampleRandom(0, EVALUATION, sample));
  }

  @Override
  public boolean changesByEpoch() {
    return masking != null;
  }

  @Override
  public Batch load(int[] samples, long seed, long epoch) {
    return load(samples, sample -> new SampleRandom(seed, epoch, sample));
  }

  private Batch load(int[] samples, IntFunction<SampleRandom> randoms) {
    List<TextSequence> sequences = new ArrayList<>(samples.length);
    List<Masking.Masked> masked = new ArrayList<>(samples.length);
    for (int sample : samples) {
      var random = randoms.apply(sample);
      var sequence = source.sequence(sample, random);
      sequences.add(sequence);
      if (masking != null) {
        masked.add(masking.apply(sequence.tokens(), random));
      }
    }
    var batch = new TextBatch(sequences, padding);
    return masking == null ? batch.classified() : batch.masked(masked);
  }

  @Override
  public boolean countsTokens() {
    return inTokens;
  }

  @Override
  public int tokens(int sample) {
    return source.length(sample);
  }
}
