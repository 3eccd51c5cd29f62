package dev.flotilla.bench;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Turns of some seconds in which a stranger does something to the job, does the same to {@linkplain
 * StrangerDecoy somebody else}, or nothing.
 *
 * <p>What he costs the job is the first compared with the second: in both he uses his processor,
 * and with it memory and caches of the machine, alike. Each turn gives the median time of a step,
 * and the processor time that ranks and launchers have used for one, which other programs on the
 * machine hardly change. A round has a turn of each kind, in another order than the last; the first
 * round is not counted, as the JVMs then compile what they have not done before.
 */
final class StrangerTurns {

  /** Whom the stranger turns to. */
  private enum Kind {
    ALONE,
    ELSEWHERE,
    JOB
  }

  /** What a turn has shown, in milliseconds for a step, and in parts of a processor. */
  private record Turn(double step, double worked, double ranks, double launchers, double others) {}

  private static final Duration SETTLING = Duration.ofMillis(300);

  private final StrangerJob job;
  private final StrangerProcess stranger;
  private final String what;
  private final int seconds;
  private final List<Map<Kind, Turn>> rounds = new ArrayList<>();

  StrangerTurns(StrangerJob job, StrangerProcess stranger, String what, int seconds) {
    this.job = job;
    this.stranger = stranger;
    this.what = what;
    this.seconds = seconds;
  }

  void round() throws IOException, InterruptedException {
    if (rounds.isEmpty()) {
      for (Kind kind : Kind.values()) {
        var _ = turn(kind);
      }
    }
    var round = new EnumMap<Kind, Turn>(Kind.class);
    for (int i = 0; i < 3; i++) {
      // Forwards and backwards by turns, so that each follows each other one as often.
      int next = rounds.size() % 2 == 0 ? i : 2 - i;
      Kind kind = Kind.values()[(next + rounds.size() / 2) % 3];
      round.put(kind, turn(kind));
    }
    rounds.add(round);
  }

  private Turn turn(Kind kind) throws IOException, InterruptedException {
    stranger.ask("to " + (kind == Kind.JOB ? String.join(" ", job.ports()) : StrangerDecoy.PLACE));
    stranger.ask(kind == Kind.ALONE ? "off" : what);
    Thread.sleep(SETTLING);
    double ranks = job.rankSeconds();
    double launchers = job.launcherSeconds();
    double others = stranger.seconds();
    int from = job.steps();
    long start = System.nanoTime();
    Thread.sleep(Duration.ofSeconds(seconds));
    double[] times = job.millis(from);
    double took = (System.nanoTime() - start) / 1e9;
    ranks = job.rankSeconds() - ranks;
    launchers = job.launcherSeconds() - launchers;
    others = stranger.seconds() - others;
    String rate = stranger.ask("off");
    var turn =
        new Turn(
            times[times.length / 2],
            1000 * (ranks + launchers) / times.length,
            ranks / took,
            launchers / took,
            others / took);
    System.out.printf(
        Locale.ROOT,
        "%-9s %.2f ms a step, %.2f ms of work; ranks use %.1f %% of a processor, launchers %.1f %%,"
            + " the stranger %.1f %%; he does %s a second%n",
        kind.name().toLowerCase(Locale.ROOT),
        turn.step(),
        turn.worked(),
        100 * turn.ranks(),
        100 * turn.launchers(),
        100 * turn.others(),
        rate);
    return turn;
  }

  /** Prints medians; returns the greater of both ratios of job to elsewhere. */
  double report(List<String> options) {
    System.out.printf("%s %s, %d rounds of %d s a turn%n", what, options, rounds.size(), seconds);
    double step = ratio("step", Turn::step, Kind.JOB, Kind.ELSEWHERE);
    double worked = ratio("work of a step", Turn::worked, Kind.JOB, Kind.ELSEWHERE);
    ratio("step", Turn::step, Kind.ELSEWHERE, Kind.ALONE);
    ratio("work of a step", Turn::worked, Kind.ELSEWHERE, Kind.ALONE);
    ratio("step", Turn::step, Kind.JOB, Kind.ALONE);
    ratio("work of a step", Turn::worked, Kind.JOB, Kind.ALONE);
    for (Kind kind : Kind.values()) {
      System.out.printf(
          Locale.ROOT,
          "%s: ranks %.1f %%, launchers %.2f %%, stranger %.1f %% of a processor%n",
          kind.name().toLowerCase(Locale.ROOT),
          100 * median(kind, Turn::ranks),
          100 * median(kind, Turn::launchers),
          100 * median(kind, Turn::others));
    }
    return Math.max(step, worked);
  }

  private interface Part {
    double of(Turn turn);
  }

  private double ratio(String name, Part part, Kind kind, Kind base) {
    double[] all =
        rounds.stream()
            .mapToDouble(it -> part.of(turn(it, kind)) / part.of(turn(it, base)))
            .sorted()
            .toArray();
    System.out.printf(
        Locale.ROOT,
        "%s, %s / %s: median %.4f, quartiles %.4f to %.4f%n",
        name,
        kind.name().toLowerCase(Locale.ROOT),
        base.name().toLowerCase(Locale.ROOT),
        middle(all),
        all[all.length / 4],
        all[all.length * 3 / 4]);
    return middle(all);
  }

  private double median(Kind kind, Part part) {
    return middle(rounds.stream().mapToDouble(it -> part.of(turn(it, kind))).sorted().toArray());
  }

  private static double middle(double[] sorted) {
    return (sorted[sorted.length / 2] + sorted[(sorted.length - 1) / 2]) / 2;
  }

  private static Turn turn(Map<Kind, Turn> round, Kind kind) {
    return requireNonNull(round.get(kind));
  }
}
