package dev.flotilla.strategy.compress;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Momentum correction: the one pass over memory that each compressed update makes.
 *
 * <p>h = c g + (λ / N) w; u ← m u + h; v ← v + u, or with Nesterov v ← v + h + m u. Here u is the
 * classical velocity also with Nesterov, so that it goes on from a dense phase as it is; the
 * paper's u is m times ours. The gradient is cleared on the way, and places with |v| above a
 * threshold are noted.
 *
 * @param momentum m
 * @param nesterov whether to look ahead
 */
record Correction(float momentum, boolean nesterov) {

  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;

  /**
   * Works on one stretch.
   *
   * @param factor c, what the gradient is multiplied by
   * @param threshold a size; places with larger residuals are added to the candidates
   */
  void apply(Field field, float factor, float threshold, Candidates found) {
    if (field.decay() == 0) {
      plain(field, factor, threshold, found);
    } else {
      decayed(field, factor, threshold, found);
    }
  }

  private float ofGradient() {
    return nesterov ? 1 : 0;
  }

  private float ofVelocity() {
    return nesterov ? momentum : 1;
  }

  // Two loops that differ in one term: reading w where it is not needed would cost a fifth more.

  private void plain(Field field, float factor, float threshold, Candidates found) {
    MemorySegment g = field.gradient();
    MemorySegment u = field.velocity();
    MemorySegment v = field.residual();
    float m = momentum;
    float a = ofGradient();
    float b = ofVelocity();
    int[] places = found.places();
    int count = found.count();
    int length = field.length();
    for (int i = 0; i < length; i++) {
      float h = factor * g.getAtIndex(FLOAT, i);
      float velocity = m * u.getAtIndex(FLOAT, i) + h;
      float residual = v.getAtIndex(FLOAT, i) + (a * h + b * velocity);
      u.setAtIndex(FLOAT, i, velocity);
      v.setAtIndex(FLOAT, i, residual);
      g.setAtIndex(FLOAT, i, 0f);
      if (Math.abs(residual) > threshold) {
        if (count < places.length) {
          places[count] = field.start() + i;
        }
        count++;
      }
    }
    found.count(count);
  }

  private void decayed(Field field, float factor, float threshold, Candidates found) {
    MemorySegment g = field.gradient();
    MemorySegment u = field.velocity();
    MemorySegment v = field.residual();
    MemorySegment w = field.weight();
    float m = momentum;
    float a = ofGradient();
    float b = ofVelocity();
    float decay = field.decay();
    int[] places = found.places();
    int count = found.count();
    int length = field.length();
    for (int i = 0; i < length; i++) {
      float h = factor * g.getAtIndex(FLOAT, i) + decay * w.getAtIndex(FLOAT, i);
      float velocity = m * u.getAtIndex(FLOAT, i) + h;
      float residual = v.getAtIndex(FLOAT, i) + (a * h + b * velocity);
      u.setAtIndex(FLOAT, i, velocity);
      v.setAtIndex(FLOAT, i, residual);
      g.setAtIndex(FLOAT, i, 0f);
      if (Math.abs(residual) > threshold) {
        if (count < places.length) {
          places[count] = field.start() + i;
        }
        count++;
      }
    }
    found.count(count);
  }
}
