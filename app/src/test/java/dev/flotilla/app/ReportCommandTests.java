package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** Runs become pages, tables and pictures, or a message says why not. */
@Isolated
class ReportCommandTests {

  private static final String EVENTS =
      """
      {"event":"configured","time":"2026-11-17T03:48:01Z","configuration":{"batch":64}}
      {"event":"updated","time":"2026-11-17T03:48:02Z","epoch":0,"update":10,"loss":1.5}
      """;

  @TempDir Path folder;
  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

  @BeforeEach
  void write() throws IOException {
    for (var name : new String[] {"one", "more/one"}) {
      Files.createDirectories(folder.resolve(name));
      Files.writeString(folder.resolve(name).resolve("events.jsonl"), EVENTS);
    }
  }

  private int run(String... arguments) {
    var out = System.out;
    var err = System.err;
    var all = new PrintStream(printed, true, StandardCharsets.UTF_8);
    System.setOut(all);
    System.setErr(all);
    try {
      return Main.run(arguments);
    } finally {
      System.setOut(out);
      System.setErr(err);
    }
  }

  private void expectMistake(String message, String... arguments) {
    assertThat(run(arguments)).isEqualTo(2);
    assertThat(printed.toString(StandardCharsets.UTF_8).lines().toList())
        .filteredOn(line -> !line.contains("warning: Java"))
        .singleElement()
        .asString()
        .startsWith("flotilla: ")
        .contains(message);
  }

  private String path(String name) {
    return folder.resolve(name).toString();
  }

  @Test
  void aRunsPageLiesInItsFolder() throws IOException {
    assertThat(run("report", path("one"))).isZero();
    assertThat(printed.toString(StandardCharsets.UTF_8))
        .contains("report: " + path("one/report.html"));
    assertThat(Files.readString(folder.resolve("one/report.html"))).contains("\"name\":\"one\"");
  }

  @Test
  void runsOfOneNameAreToldApartByTheirPaths() throws IOException {
    int code =
        run(
            "report",
            path("one"),
            path("more/one"),
            "--out=" + path("both.html"),
            "--csv=" + path("tables"),
            "--svg=" + path("figures"));
    assertThat(code).isZero();
    assertThat(Files.readString(folder.resolve("both.html")))
        .contains("\"name\":\"" + path("one") + "\"", "\"name\":\"" + path("more/one") + "\"");
    assertThat(folder.resolve("tables")).isDirectoryContaining("glob:**/runs.csv");
    assertThat(folder.resolve("figures")).isDirectoryContaining("glob:**/loss.svg");
  }

  @Test
  void aFolderThatIsNotThereIsNamed() {
    expectMistake("there is no folder " + path("none"), "report", path("none"));
  }

  @Test
  void aFolderOfRunsIsNoRun() {
    expectMistake("give the runs in it, as " + path("more") + "/*", "report", path("more"));
  }

  @Test
  void damagedEventsAreNamedByTheirLine() throws IOException {
    Files.writeString(folder.resolve("one/events.jsonl"), EVENTS + "\u0000\u0000\n");
    expectMistake("events.jsonl is damaged in line 3", "report", path("one"));
  }

  @Test
  void aPageCannotBeAFolder() {
    expectMistake("is a folder; name a file in it", "report", path("one"), "--out=" + path("more"));
  }

  @Test
  void aPageNeedsAFolderThatIsThere() {
    expectMistake(
        "its folder does not exist", "report", path("one"), "--out=" + path("nowhere/x.html"));
  }
}
