package dev.flotilla.zoo.data;

/** What sequences of text are for. */
public enum TextTask {
  /** Tokens are masked, to be guessed; a label says whether the second sentence follows. */
  PRETRAINING,
  /** The label is the class of the sequence. */
  CLASSIFICATION
}
