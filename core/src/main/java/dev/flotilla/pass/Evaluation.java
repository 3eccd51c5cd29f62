package dev.flotilla.pass;

import dev.flotilla.model.Score;

/**
 * How well a model does on data it was not trained on.
 *
 * @param loss mean loss per term
 * @param score right answers
 * @param samples samples evaluated over all ranks, each once
 */
public record Evaluation(double loss, Score score, long samples) {}
