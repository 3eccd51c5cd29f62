package dev.flotilla.zoo.model;

/** How a residual network begins. */
public enum Stem {
  /** A 7×7 convolution and a maximum, both in steps of two: for images of 224×224 pixels. */
  IMAGENET,
  /** A 3×3 convolution that keeps the size: for images of 32×32 pixels. */
  CIFAR
}
