package dev.flotilla.zoo.data;

/** Sequences of tokens, before masking. */
interface TextSource {

  /** Returns the number of sequences. */
  int size();

  /** Returns a sequence; what is drawn comes from the given random numbers alone. */
  TextSequence sequence(int sample, SampleRandom random);

  /** Returns a length that a sequence never exceeds, whatever is drawn. */
  int length(int sample);
}
