package dev.flotilla.metric;

/** How the values of classes become one. */
public enum Average {
  /** The mean over the classes that occur, among answers or right answers. */
  MACRO,
  /** The value of all classes' counts together. */
  MICRO
}
