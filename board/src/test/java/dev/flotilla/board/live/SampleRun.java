package dev.flotilla.board.live;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;

/** Writes a run's folder as training does, as far as a board looks at it. */
final class SampleRun {

  private final Path folder;
  private Instant time = Instant.now().minusSeconds(3600);
  private long update;

  private SampleRun(Path folder) {
    this.folder = folder;
  }

  static SampleRun in(Path folder, String configuration) throws IOException {
    Files.createDirectories(folder);
    var run = new SampleRun(folder);
    run.add("\"event\":\"configured\",\"configuration\":" + configuration);
    return run.add(
        "\"event\":\"started\",\"ranks\":2,\"parameters\":61706,\"total_updates\":5000,\"epochs\":8");
  }

  static SampleRun in(Path folder) throws IOException {
    return in(
        folder,
        "{\"model\":{\"name\":\"lenet5\",\"classes\":10},\"global_batch\":64,\"seed\":42,"
            + "\"optimizer\":{\"name\":\"momentum\",\"lr\":0.05}}");
  }

  Path folder() {
    return folder;
  }

  /** Adds logged updates, each ten after the last. */
  SampleRun updates(int count) throws IOException {
    var lines = new StringBuilder();
    for (int i = 0; i < count; i++) {
      update += 10;
      double loss = 2.3 * Math.exp(-update / 1200.0) + 0.1 + 0.05 * Math.sin(update * 0.7);
      lines.append(
          line(
              String.format(
                  Locale.ROOT,
                  "\"event\":\"updated\",\"epoch\":%d,\"update\":%d,\"micro_steps\":%d,\"loss\":%.6f,"
                      + "\"lr\":%.6f,\"acc1\":%.4f,\"acc5\":0.99,\"samples_per_second\":%.1f",
                  update / 625,
                  update,
                  update,
                  loss,
                  0.05 * (1 + Math.cos(Math.PI * update / 5000)) / 2,
                  1 - loss / 2.5,
                  2900 + 120 * Math.sin(update * 0.3))));
      if (update % 500 == 0) {
        lines.append(evaluation(loss)).append(saved());
      }
    }
    return write(lines.toString());
  }

  private String evaluation(double loss) {
    return line(
        String.format(
            Locale.ROOT,
            "\"event\":\"evaluated\",\"epoch\":%d,\"update\":%d,\"loss\":%.6f,\"acc1\":%.4f,"
                + "\"acc5\":0.999,\"samples\":2000,\"metrics\":{}",
            update / 625,
            update,
            loss * 1.1,
            1 - loss / 3));
  }

  private String saved() {
    return line("\"event\":\"saved\",\"update\":%d,\"micro_steps\":%d".formatted(update, update));
  }

  SampleRun noted(String text) throws IOException {
    return add("\"event\":\"noted\",\"text\":\"" + text + "\"");
  }

  SampleRun finish() throws IOException {
    var summary = "{\"accuracy\":0.977,\"loss\":0.0774,\"ranks\":2,\"updates\":" + update + "}";
    Files.writeString(folder.resolve("summary.json"), summary);
    return add("\"event\":\"finished\",\"summary\":" + summary);
  }

  /** Makes it look as if nobody had written for so long. */
  SampleRun silentFor(Duration time) throws IOException {
    Files.setLastModifiedTime(
        folder.resolve("events.jsonl"), FileTime.from(Instant.now().minus(time)));
    return this;
  }

  private SampleRun add(String fields) throws IOException {
    return write(line(fields));
  }

  private String line(String fields) {
    time = time.plusMillis(250);
    int at = fields.indexOf(',');
    return "{%s,\"time\":\"%s\"%s}%n"
        .formatted(fields.substring(0, at), time, fields.substring(at));
  }

  private SampleRun write(String text) throws IOException {
    Files.writeString(
        folder.resolve("events.jsonl"), text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    return this;
  }
}
