package dev.flotilla.app.doctor;

import dev.flotilla.app.doctor.Measured.Pair;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Judges what ranks have measured together; each check is a function of that alone. */
public final class LinkChecks {

  private static final double LARGEST_OFFSET = 0.5;
  private static final double SLOW_BITS = 1e9;
  private static final double LONG_LATENCY = 5e-3;

  private LinkChecks() {}

  /** Judges all of it. */
  public static List<Finding> all(Measured measured) {
    List<Finding> findings = new ArrayList<>();
    findings.add(libtorch(measured));
    if (measured.hosts().size() > 1) {
      findings.add(clocks(measured));
      if (!measured.failures().isEmpty()) {
        findings.add(failures(measured));
      }
      if (!measured.pairs().isEmpty()) {
        findings.add(latency(measured));
        findings.add(bandwidth(measured));
      }
      findings.add(allReduce(measured));
    }
    return findings;
  }

  static Finding libtorch(Measured measured) {
    String seen = String.format(Locale.ROOT, "loaded in %.1f s", measured.loadSeconds());
    return measured.cudaProblem().isEmpty()
        ? Finding.ok("libtorch", seen)
        : Finding.warning(
            "libtorch",
            seen + "; " + measured.cudaProblem(),
            "training runs on the CPU, and a recipe with device: cuda is refused",
            "see docs/gpu.md for what the build for CUDA needs");
  }

  static Finding clocks(Measured measured) {
    int furthest = 0;
    for (int rank = 1; rank < measured.clocks().size(); rank++) {
      if (offset(measured, rank) > offset(measured, furthest)) {
        furthest = rank;
      }
    }
    String seen =
        String.format(
            Locale.ROOT,
            "%.3f s between rank 0 and rank %d",
            0.0 + Math.round(1e3 * measured.clocks().get(furthest)) / 1e3, // not -0.000
            furthest);
    return offset(measured, furthest) <= LARGEST_OFFSET
        ? Finding.ok("clock", seen)
        : Finding.warning(
            "clock",
            seen,
            "times in logs and events of different hosts do not fit together; training does not"
                + " depend on them",
            "let all hosts follow a time server (timedatectl set-ntp true)");
  }

  private static double offset(Measured measured, int rank) {
    return Math.abs(measured.clocks().get(rank));
  }

  static Finding failures(Measured measured) {
    return Finding.error(
        "links",
        String.join("; ", measured.failures()),
        "these ranks cannot exchange gradients",
        "open all ports between the hosts (ranks listen on free ones that the system chooses), or"
            + " set GLOO_SOCKET_IFNAME to the interface that leads to the others");
  }

  static Finding latency(Measured measured) {
    var worst =
        measured.pairs().stream().max(Comparator.comparingDouble(Pair::latency)).orElseThrow();
    double median = median(measured.pairs().stream().map(Pair::latency).sorted().toList());
    String seen =
        String.format(
            Locale.ROOT,
            "%.3f ms in the median of %s, at most %.3f between rank %d and rank %d",
            1e3 * median,
            pairs(measured),
            1e3 * worst.latency(),
            worst.to(),
            worst.from());
    return worst.latency() <= LONG_LATENCY
        ? Finding.ok("latency", seen)
        : Finding.warning(
            "latency",
            seen,
            "an all-reduce of n ranks passes 2 (n - 1) messages one after the other, for every"
                + " update",
            "exchange less often: gradient_merge, or localsgd; flotilla plan --advise compares");
  }

  static Finding bandwidth(Measured measured) {
    var worst =
        measured.pairs().stream()
            .min(Comparator.comparingDouble(Pair::bitsPerSecond))
            .orElseThrow();
    double median = median(measured.pairs().stream().map(Pair::bitsPerSecond).sorted().toList());
    String seen =
        "%s in the median of %s, at least %s from rank %d to rank %d"
            .formatted(
                rate(median),
                pairs(measured),
                rate(worst.bitsPerSecond()),
                worst.from(),
                worst.to());
    if (worst.bitsPerSecond() < 0.5 * median) {
      return Finding.warning(
          "bandwidth",
          seen,
          "a ring is as fast as its slowest link: all ranks wait for this one",
          "look at cable, switch port and load of the hosts of these two ranks");
    }
    return worst.bitsPerSecond() >= SLOW_BITS
        ? Finding.ok("bandwidth", seen)
        : Finding.warning(
            "bandwidth",
            seen,
            String.format(
                Locale.ROOT,
                "gradients of a million parameters in float32 take %.0f ms per update",
                3.2e7 / worst.bitsPerSecond() * 1e3),
            "flotilla plan --advise says what a slow link calls for: gradient_merge, and if the"
                + " mathematics may change dgc, powersgd or localsgd");
  }

  private static String pairs(Measured measured) {
    int count = measured.pairs().size();
    return count == 1 ? "1 pair" : count + " pairs";
  }

  /** Says what an all-reduce takes; nothing is right or wrong about it. */
  static Finding allReduce(Measured measured) {
    return Finding.ok(
        "all-reduce",
        String.format(
            Locale.ROOT,
            "%.3f ms + %.3f ms per MB over %d ranks%s",
            1e3 * measured.allReduceSeconds(),
            1e9 * measured.allReduceSecondsPerByte(),
            measured.hosts().size(),
            whileComputing(measured)));
  }

  /** Says what it is behind a backward that needs all cores. */
  private static String whileComputing(Measured measured) {
    var busy = measured.busy();
    if (busy.secondsPerByte() <= 0) {
      return "";
    }
    int ranks = measured.hosts().size();
    double alone = measured.allReduceSecondsPerByte() * ranks / (2.0 * (ranks - 1));
    return String.format(
        Locale.ROOT,
        "; while all cores compute %.1f times as long, and %.0f %% of computing is lost",
        busy.secondsPerByte() / alone,
        100 * busy.work() / busy.secondsPerByte());
  }

  private static double median(List<Double> sorted) {
    return sorted.get(sorted.size() / 2);
  }

  static String rate(double bits) {
    return bits >= 1e9
        ? String.format(Locale.ROOT, "%.1f Gbit/s", bits / 1e9)
        : String.format(Locale.ROOT, "%.0f Mbit/s", bits / 1e6);
  }
}
