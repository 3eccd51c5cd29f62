package dev.flotilla.strategy.compress;

/**
 * Momentum correction: the one pass over memory that each compressed update makes.
 *
 * <p>h = c g + (λ / N) w; u ← m u + h; v ← v + u, or with Nesterov v ← v + h + m u. Here u is the
 * classical velocity also with Nesterov, so that it goes on from a dense phase as it is; the
 * paper's u is m times ours. Indices with |v| above a threshold are noted on the way.
 *
 * <p>Works in blocks that fit into the nearest cache, on arrays, whose loops are compiled to vector
 * instructions.
 */
final class Correction {

  private static final int BLOCK = 1024;

  private final float momentum;
  private final float ofGradient;
  private final float ofVelocity;
  private final float[] gradients = new float[BLOCK];
  private final float[] velocities = new float[BLOCK];
  private final float[] residuals = new float[BLOCK];
  private final float[] weights = new float[BLOCK];
  private final float[] zeros = new float[BLOCK];

  /**
   * Prepares the pass.
   *
   * @param momentum m
   * @param nesterov whether to look ahead
   */
  Correction(float momentum, boolean nesterov) {
    this.momentum = momentum;
    this.ofGradient = nesterov ? 1 : 0;
    this.ofVelocity = nesterov ? momentum : 1;
  }

  /**
   * Works on one slice.
   *
   * @param factor c, what the gradient is multiplied by
   * @param threshold a size; indices with larger residuals are added to the candidates
   * @param clears whether to clear the gradient on the way, which costs a sixth more
   */
  void apply(Field field, float factor, int threshold, boolean clears, Candidates found) {
    for (int from = 0; from < field.length(); from += BLOCK) {
      int length = Math.min(BLOCK, field.length() - from);
      field.gradient().get(from, gradients, 0, length);
      field.velocity().get(from, velocities, 0, length);
      field.residual().get(from, residuals, 0, length);
      scale(factor, length);
      if (field.decay() != 0) {
        field.weight().get(from, weights, 0, length);
        decay(field.decay(), length);
      }
      correct(length);
      field.velocity().put(from, velocities, 0, length);
      field.residual().put(from, residuals, 0, length);
      if (clears) {
        field.gradient().put(from, zeros, 0, length);
      }
      found.scan(field, from, length, threshold);
    }
  }

  private void scale(float factor, int length) {
    for (int i = 0; i < length; i++) {
      gradients[i] = factor * gradients[i];
    }
  }

  private void decay(float decay, int length) {
    for (int i = 0; i < length; i++) {
      gradients[i] = gradients[i] + decay * weights[i];
    }
  }

  private void correct(int length) {
    for (int i = 0; i < length; i++) {
      float velocity = momentum * velocities[i] + gradients[i];
      velocities[i] = velocity;
      residuals[i] = residuals[i] + (ofGradient * gradients[i] + ofVelocity * velocity);
    }
  }
}
