package dev.flotilla.model;

/** What an objective asks a model for, by which others know how to read its outputs. */
public enum Task {
  /** One of several classes, by a logit for each. */
  CLASSIFICATION,
  /** Numbers. */
  REGRESSION,
  /** Something that only the objective knows. */
  OTHER
}
