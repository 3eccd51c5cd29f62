package dev.flotilla.app.advise;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Which combination is recommended, and why.
 *
 * @param all predictions, the simpler combinations first
 * @param limitBytes memory that a rank may take
 * @param allowsApproximate whether the mathematics may change
 */
public record Advice(List<Prediction> all, long limitBytes, boolean allowsApproximate) {

  /** What is so little faster is not worth one more technique. */
  static final double WORTH_IT = 0.98;

  /** Copies the list. */
  public Advice {
    all = List.copyOf(all);
  }

  /** Tells whether a prediction stays within the memory. */
  public boolean fits(Prediction prediction) {
    return prediction.trial().peakBytes() <= limitBytes;
  }

  /**
   * Returns the fastest per sample of those that fit and may be recommended; the simpler of two.
   */
  public Optional<Prediction> recommended() {
    Prediction best = null;
    for (var it : all) {
      boolean isAllowed = fits(it) && (allowsApproximate || it.combination().isExact());
      if (isAllowed && (best == null || it.perSample() < WORTH_IT * best.perSample())) {
        best = it;
      }
    }
    return Optional.ofNullable(best);
  }

  /** Returns two or three sentences on the recommended one. */
  public String explanation(LinkRate link) {
    return recommended()
        .map(it -> explanation(it, link))
        .orElseGet(
            () ->
                "Nothing that may be recommended fits into "
                    + mebibytes(limitBytes)
                    + (allowsApproximate
                        ? ". Take a smaller batch or more ranks."
                        : ". Take a smaller batch or more ranks, or look at the approximate ones"
                            + " with --allow-approximate."));
  }

  private String explanation(Prediction best, LinkRate link) {
    var plain = all.getFirst();
    var text = new StringBuilder();
    text.append(
        String.format(
            Locale.ROOT,
            "Recommended: %s, %.3f ms per sample",
            best.combination().name(),
            1e3 * best.perSample()));
    boolean isPlain = best.equals(plain);
    if (!isPlain && fits(plain)) {
      text.append(
          String.format(
              Locale.ROOT, ", %.2f times as fast as plain", plain.perSample() / best.perSample()));
    } else if (!isPlain) {
      text.append(
          ", where plain does not fit (%s of %s)"
              .formatted(mebibytes(plain.trial().peakBytes()), mebibytes(limitBytes)));
    }
    text.append(". ").append(why(best, link));
    if (!best.combination().isExact()) {
      text.append(
          " It changes the mathematics (%s): compare accuracy before you rely on it."
              .formatted(best.combination().change()));
    } else if (!allowsApproximate) {
      text.append(fasterButApproximate(best));
    }
    return text.toString();
  }

  private static String why(Prediction best, LinkRate link) {
    double alone = best.trial().seconds();
    if (best.ranks() == 1) {
      return String.format(
          Locale.ROOT, "One rank exchanges nothing; an update computes for %.1f ms.", 1e3 * alone);
    }
    double wire = link.wire(best.sentBytes()) + link.latency() * best.trial().sent().messages();
    double visible = Math.max(0, best.seconds() - alone);
    return String.format(
        Locale.ROOT,
        "An update computes for %.1f ms and sends %.2f MB, which take %.1f ms on this link; %.1f ms"
            + " of that are not hidden behind computing.",
        1e3 * alone,
        best.sentBytes() / 1e6,
        1e3 * wire,
        1e3 * visible);
  }

  private String fasterButApproximate(Prediction best) {
    return all.stream()
        .filter(it -> fits(it) && !it.combination().isExact())
        .filter(it -> it.perSample() < WORTH_IT * best.perSample())
        .min(java.util.Comparator.comparingDouble(Prediction::perSample))
        .map(
            it ->
                String.format(
                    Locale.ROOT,
                    " If the mathematics may change, %s is %.1f times as fast (%s):"
                        + " --allow-approximate.",
                    it.combination().name(),
                    best.perSample() / it.perSample(),
                    it.combination().change()))
        .orElse("");
  }

  static String mebibytes(long bytes) {
    return String.format(Locale.ROOT, "%,.0f MiB", bytes / 1048576.0);
  }
}
