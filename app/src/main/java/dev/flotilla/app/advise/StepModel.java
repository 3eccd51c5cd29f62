package dev.flotilla.app.advise;

import dev.flotilla.config.StepTrial;

/**
 * Predicts how long an update takes over a link, from what it takes without one.
 *
 * <p>With T the update of a rank alone, B its last backward, r the part of B before the first of b
 * buckets is full, F = T − B, and W what is on the way, of which e at least shows:
 *
 * <pre>
 * no overlap         T + W
 * behind backward    T + shown(W, e = W / b, B − r)
 * behind both        T + shown(Ws, e = Ws / b, B − r) + shown(Wg, e = max(W0, Wg / b), F)
 * gathered           T + shown(Wf, e = max(W0, Wf / b), F)
 *                      + work(Wb) + shown(Ws, e = Ws / b, B − max(r, Wb)), if Wb is over before B
 *                      + shown(Wb, e = 0, B) + Ws, if not
 * </pre>
 *
 * <p>Ws are the bytes of sums that are scattered and Wg those of parameters that are gathered, of
 * which the first segment waits for W0, with nothing to compute meanwhile; Wf, those for forward,
 * is W0 or half of Wg, whichever is more, and Wb the rest. Each message that others wait for adds
 * the latency. With k micro-steps, what is exchanged in each of them is hidden in each of them.
 *
 * @see Wire#shown
 */
public final class StepModel {

  /** Where backward was not watched: it costs about twice as much as forward. */
  private static final double BACKWARD_SHARE = 2.0 / 3;

  private static final double FIRST_BUCKET_SHARE = 0.25;

  private StepModel() {}

  /**
   * Returns the seconds of an update.
   *
   * @param trial what it took on a rank alone
   */
  public static double seconds(StepTrial.Result trial, LinkRate link, Overlap overlap) {
    var sent = trial.sent();
    double alone = trial.seconds();
    int k = trial.microSteps();
    double micro = alone / k;
    double backward = trial.backward() > 0 ? trial.backward() : BACKWARD_SHARE * micro;
    double first = trial.backward() > 0 ? trial.firstBucket() : FIRST_BUCKET_SHARE * backward;
    double forward = Math.max(0, micro - backward);
    int b = trial.buckets();
    double wait = link.latency() * sent.messages();
    var all = Wire.of(link, sent.reduced() + sent.gathered() + sent.scattered(), wait);
    var sums = Wire.of(link, sent.reduced() + sent.scattered(), wait / 2);
    var parameters = Wire.of(link, sent.gathered(), wait / 2);
    double ahead = link.wire(sent.ahead());
    return switch (overlap) {
      case NONE -> alone + all.seconds();
      case BACKWARD -> alone + all.shown(all.seconds() / b, backward - first);
      case BOTH ->
          alone
              + sums.shown(sums.seconds() / b, backward - first)
              + parameters.shown(Math.max(ahead, parameters.seconds() / b), forward);
      case GATHERED -> {
        var each = parameters.times(1.0 / k);
        var front = each.first(Math.max(each.seconds() / 2, ahead));
        var back = each.without(front.seconds());
        var sum = sums.times(1.0 / k);
        // Sums leave when the first bucket is full, and the wire is free of what was gathered.
        double left = backward - Math.max(first, back.computed());
        double behind =
            left > 0
                ? back.work() + sum.shown(sum.seconds() / b, left)
                : back.shown(0, backward) + sum.seconds();
        yield alone + k * (front.shown(Math.max(ahead, front.seconds() / b), forward) + behind);
      }
    };
  }
}
