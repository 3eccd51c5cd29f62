package dev.flotilla.board.run;

import dev.flotilla.text.Secrets;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import tools.jackson.core.JacksonException;

/**
 * Follows a run's folder: each look reads on where the one before it has ended.
 *
 * <p>For one thread at a time; what {@link #run} returns never changes.
 */
public final class RunFollower {

  static final String EVENTS = "events.jsonl";
  static final String MEASURED = "measured.jsonl";
  private static final String SUMMARY = "summary.json";
  private static final Pattern MARK = Pattern.compile("run ([0-9a-f]{16})\n.*", Pattern.DOTALL);

  private final Path folder;
  private final Secrets secrets;
  private final LineFile eventLines;
  private final LineFile measuredLines;
  private Events events = new Events();
  private Measurements measurements = new Measurements();
  private Map<String, Object> summary = Map.of();
  private long eventCount;

  /** Makes one that has not looked yet, and hides the secrets of this process's environment. */
  public RunFollower(Path folder) {
    this(folder, new Secrets(System.getenv()));
  }

  /** Makes one that has not looked yet. */
  public RunFollower(Path folder, Secrets secrets) {
    this.folder = folder;
    this.secrets = secrets;
    this.eventLines = new LineFile(folder.resolve(EVENTS), this::forgetEvents);
    this.measuredLines = new LineFile(folder.resolve(MEASURED), this::forgetMeasurements);
  }

  /** Tells whether a folder holds a run. */
  public static boolean isRun(Path folder) {
    return Files.isRegularFile(folder.resolve(EVENTS));
  }

  private void forgetEvents() {
    events = new Events();
    eventCount = 0;
  }

  private void forgetMeasurements() {
    measurements = new Measurements();
  }

  /**
   * Reads what has come since the last look.
   *
   * @return whether anything has changed
   * @throws RunException if there is no such folder, it holds no run, or its events are damaged
   */
  public boolean poll() {
    requireRun();
    try {
      boolean changed = eventLines.poll(line -> events.on(parsed(line, EVENTS, ++eventCount)));
      changed |= measuredLines.poll(line -> measurements.on(parsed(line, MEASURED, 0)));
      var before = summary;
      summary = readSummary();
      return changed || !before.equals(summary);
    } catch (IOException failure) {
      throw new RunException("cannot read %s: %s".formatted(folder, failure.getMessage()));
    }
  }

  private void requireRun() {
    if (!Files.isDirectory(folder)) {
      throw new RunException(
          Files.exists(folder)
              ? "%s is not a folder; give the folder of a run".formatted(folder)
              : "there is no folder %s; runs lie in runs/ unless --out named another place"
                  .formatted(folder));
    }
    if (!isRun(folder)) {
      throw new RunException(
          "%s is not the folder of a run: it has no %s; %s"
              .formatted(
                  folder,
                  EVENTS,
                  holdsRuns()
                      ? "give the runs in it, as %s/*".formatted(folder)
                      : "give a folder that train or run has written"));
    }
  }

  private boolean holdsRuns() {
    try (var files = Files.list(folder)) {
      return files.anyMatch(RunFollower::isRun);
    } catch (IOException unreadable) {
      return false;
    }
  }

  private Map<String, Object> parsed(String line, String file, long number) {
    try {
      return Json.read(line);
    } catch (JacksonException wrong) {
      throw new RunException(
          "%s is damaged%s: not a JSON object; take the file from a backup, or go on with --resume"
              .formatted(folder.resolve(file), number == 0 ? "" : " in line " + number));
    }
  }

  /** It is renamed into its place, so it is whole or not there. */
  private Map<String, Object> readSummary() throws IOException {
    var file = folder.resolve(SUMMARY);
    if (!Files.isRegularFile(file)) {
      return Map.of();
    }
    return parsed(Files.readString(file), SUMMARY, 0);
  }

  /** Returns the run as the last look has seen it. */
  public Run run() {
    Map<String, Object> achieved =
        new LinkedHashMap<>(summary.isEmpty() ? events.summary() : summary);
    achieved.remove("configuration");
    return new Run(
        String.valueOf(folder.toAbsolutePath().normalize().getFileName()),
        folder,
        identity(),
        !achieved.isEmpty(),
        events.begun(),
        last(),
        events.ranks(),
        events.parameters(),
        events.totalUpdates(),
        events.epochs(),
        events.update(),
        measurements.pipeline(),
        measurements.stateBytes(),
        secrets.hideIn(events.configuration()),
        secrets.hideIn(achieved),
        Stream.concat(events.curves().series().stream(), measurements.curves().series().stream())
            .toList(),
        timeline(),
        stepTimes(achieved),
        checkpoints());
  }

  private Optional<Instant> last() {
    return Stream.concat(events.last().stream(), measurements.last().stream())
        .max(Comparator.naturalOrder());
  }

  private List<Moment> timeline() {
    List<Moment> all = new ArrayList<>(events.timeline());
    all.addAll(measurements.moments());
    return all.stream()
        .sorted(Comparator.comparing(Moment::time))
        .map(it -> new Moment(it.kind(), it.update(), it.time(), secrets.hideIn(it.text())))
        .toList();
  }

  private List<StepTime> stepTimes(Map<String, Object> achieved) {
    if (achieved.get("step_seconds") instanceof List<?> ranks) {
      List<StepTime> times = new ArrayList<>();
      ranks.forEach(it -> times.add(Measurements.times(times.size(), Json.object(it))));
      return List.copyOf(times);
    }
    return measurements.times().stream().toList();
  }

  private String identity() {
    try {
      var matcher = MARK.matcher(Files.readString(folder.resolve(".run")));
      return matcher.matches() ? matcher.group(1) : "";
    } catch (IOException none) {
      return "";
    }
  }

  private List<String> checkpoints() {
    try (var files = Files.list(folder.resolve("checkpoints"))) {
      return files
          .map(it -> String.valueOf(it.getFileName()))
          .filter(it -> it.startsWith("update-"))
          .sorted()
          .toList();
    } catch (IOException none) {
      return List.of();
    }
  }
}
