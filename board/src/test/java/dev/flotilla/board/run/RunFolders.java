package dev.flotilla.board.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Writes folders of runs as training does, line by line. */
public record RunFolders(Path folder) {

  /** Makes one with a configuration. */
  public static RunFolders begun(Path folder, String configuration) throws IOException {
    Files.createDirectories(folder);
    return new RunFolders(folder)
        .event("configured", "\"configuration\":" + configuration)
        .event("started", "\"ranks\":2,\"parameters\":61706,\"total_updates\":100,\"epochs\":1");
  }

  /** Appends an event. */
  public RunFolders event(String kind, String fields) throws IOException {
    return raw("events.jsonl", line(kind, fields) + "\n");
  }

  /** Appends an update with a loss. */
  public RunFolders update(long update, double loss) throws IOException {
    return event(
        "updated",
        "\"epoch\":0,\"update\":%d,\"micro_steps\":%d,\"loss\":%s,\"lr\":0.05,\"acc1\":null,\"acc5\":null,\"samples_per_second\":1000.5"
            .formatted(update, update, Double.isFinite(loss) ? loss : "\"" + loss + "\""));
  }

  /** Appends what was measured. */
  public RunFolders measured(String kind, String fields) throws IOException {
    return raw("measured.jsonl", line(kind, fields) + "\n");
  }

  /** Returns the line of an event, without its line feed. */
  public static String line(String kind, String fields) {
    return "{\"event\":\"%s\",\"time\":\"2026-11-17T03:48:01.515097639Z\",%s}"
        .formatted(kind, fields);
  }

  /** Appends to a file. */
  public RunFolders raw(String file, String text) throws IOException {
    Files.writeString(
        folder.resolve(file), text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    return this;
  }
}
