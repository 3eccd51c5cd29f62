package dev.flotilla.zoo.model;

/** How a convolutional model keeps its activations in range. */
public enum Normalization {
  /** Over the samples of a batch, with running statistics: what published weights were made for. */
  BATCH,
  /** Within each sample, over groups of channels: the same whatever the batch is. */
  GROUP
}
