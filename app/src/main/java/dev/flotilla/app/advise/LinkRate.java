package dev.flotilla.app.advise;

import dev.flotilla.app.doctor.Measured;
import dev.flotilla.app.doctor.Measured.Busy;
import dev.flotilla.app.doctor.Measured.Pair;
import dev.flotilla.settings.ConfigException;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The link between ranks.
 *
 * @param latency seconds that a short message takes one way
 * @param secondsPerByte that a rank sends
 * @param busy the same while ranks compute on all cores
 * @param origin where the numbers come from, in words
 */
public record LinkRate(double latency, double secondsPerByte, Busy busy, String origin) {

  /** What TCP leaves of the rate of a link: 1448 of 1514 bytes of a frame. */
  static final double PAYLOAD = 1448.0 / 1514;

  private static final Pattern RATE = Pattern.compile("(\\d{1,6}(?:\\.\\d{1,6})?)([kmg])bit");
  private static final Pattern TIME = Pattern.compile("(\\d{1,6}(?:\\.\\d{1,6})?)(us|ms|s)");

  /**
   * Reads a rate such as 100mbit, as tc writes it.
   *
   * @param latency such as 0.2ms
   */
  public static LinkRate parse(String rate, String latency) {
    var match = RATE.matcher(rate.toLowerCase(Locale.ROOT));
    if (!match.matches() || Double.parseDouble(match.group(1)) == 0) {
      throw new ConfigException(
          "--link",
          "must be a number with kbit, mbit or gbit such as 100mbit, or a file that flotilla doctor"
              + " --json has written, but was '%s'".formatted(rate));
    }
    double unit = Map.of("k", 1e3, "m", 1e6, "g", 1e9).getOrDefault(match.group(2), 1.0);
    double bits = Double.parseDouble(match.group(1)) * unit;
    return new LinkRate(
        seconds("--latency", latency),
        8 / (bits * PAYLOAD),
        Busy.UNKNOWN,
        "given: %s, %s".formatted(rate, latency));
  }

  /** Reads a time such as 0.2ms. */
  public static double seconds(String option, String text) {
    var match = TIME.matcher(text.toLowerCase(Locale.ROOT));
    if (!match.matches()) {
      throw new ConfigException(
          option, "must be a number with us, ms or s such as 0.2ms, but was '%s'".formatted(text));
    }
    double unit = Map.of("us", 1e-6, "ms", 1e-3, "s", 1.0).getOrDefault(match.group(2), 1.0);
    return Double.parseDouble(match.group(1)) * unit;
  }

  /**
   * Returns what a doctor has measured: the slowest pair, or what an all-reduce reached where that
   * is less, as on one host, where adding up counts for more than the way.
   */
  public static LinkRate of(Measured measured, String origin) {
    int ranks = measured.hosts().size();
    if (ranks < 2 || measured.pairs().isEmpty()) {
      throw new ConfigException(
          "--link",
          "what the doctor measured has no link in it: start it with --nproc 2 or on several"
              + " hosts");
    }
    double slowest = measured.pairs().stream().mapToDouble(Pair::bitsPerSecond).min().orElseThrow();
    double latency = measured.pairs().stream().mapToDouble(Pair::latency).max().orElseThrow();
    double reduced = measured.allReduceSecondsPerByte() * ranks / (2.0 * (ranks - 1));
    return new LinkRate(
        Math.max(latency, measured.allReduceSeconds() / (2.0 * (ranks - 1))),
        Math.max(8 / slowest, reduced),
        measured.busy(),
        origin);
  }

  /** Returns the same link between ranks that leave cores to the exchange. */
  public LinkRate withFreeCores() {
    return new LinkRate(latency, secondsPerByte, Busy.UNKNOWN, origin);
  }

  /** Tells whether it says what moving bytes takes from computing. */
  public boolean saysWork() {
    return busy.secondsPerByte() > 0;
  }

  /**
   * Returns the same link with what moving bytes takes from computing.
   *
   * @param onHost measured between ranks of one host: nothing but the work of moving bytes
   * @param share of the work that a rank loses, if it has more cores than a rank there
   */
  public LinkRate working(LinkRate onHost, double share) {
    double more = Math.max(0, onHost.busy.secondsPerByte() - onHost.secondsPerByte);
    var work = new Busy(secondsPerByte + more, share * onHost.busy.work());
    return new LinkRate(latency, secondsPerByte, work, origin);
  }

  /** Returns the seconds that a byte takes while ranks compute on all cores. */
  double secondsPerByteBusy() {
    return Math.max(secondsPerByte, busy.secondsPerByte());
  }

  /** Returns the seconds that bytes take. */
  double wire(double bytes) {
    return secondsPerByte * bytes;
  }

  /** Returns the rate for people. */
  public String text() {
    return String.format(
        Locale.ROOT, "%.0f Mbit/s, %.2f ms (%s)", 8e-6 / secondsPerByte, 1e3 * latency, origin);
  }
}
