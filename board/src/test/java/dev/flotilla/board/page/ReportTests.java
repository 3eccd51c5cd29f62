package dev.flotilla.board.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.board.run.Run;
import dev.flotilla.board.run.RunException;
import dev.flotilla.board.run.RunFolders;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class ReportTests {

  private static final Pattern SCRIPT = Pattern.compile("<script>(.*?)</script>", Pattern.DOTALL);
  private static final Pattern STYLE = Pattern.compile("<style>(.*?)</style>", Pattern.DOTALL);
  private static final Pattern DATA =
      Pattern.compile(
          "<script type=\"application/json\" id=\"runs\">(.*?)</script>", Pattern.DOTALL);

  @TempDir Path temp;

  private static Run run(String name) {
    return Runs.of(name, Map.of(), List.of(Runs.series("loss", "training", 3, 1, 2)));
  }

  private static String page(Run... runs) {
    return new Report(List.of(runs)).html();
  }

  private static JsonNode data(String page) {
    var matcher = DATA.matcher(page);
    assertThat(matcher.find()).isTrue();
    return JsonMapper.shared().readTree(matcher.group(1));
  }

  private static byte[] sha256(String text) throws NoSuchAlgorithmException {
    return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
  }

  private static Stream<String> hashes(Pattern element, String page) {
    return element
        .matcher(page)
        .results()
        .map(
            it -> {
              try {
                return "'sha256-" + Base64.getEncoder().encodeToString(sha256(it.group(1))) + "'";
              } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException(e);
              }
            });
  }

  @Test
  void thePolicyAllowsExactlyThePagesOwnScriptsAndStyle() {
    var page = page(run("one"));
    var policy =
        "content=\"default-src 'none'; script-src %s; style-src %s; img-src data:; base-uri 'none'; form-action 'none'\""
            .formatted(
                String.join(" ", hashes(SCRIPT, page).toList()),
                String.join(" ", hashes(STYLE, page).toList()));
    assertThat(page).contains(policy);
    assertThat(SCRIPT.matcher(page).results()).hasSize(4);
    assertThat(page).doesNotContain("unsafe").doesNotContain("{{");
    assertThat(page.replaceAll("(?s)<script.*?</script>", ""))
        .as("nothing is fetched")
        .doesNotContainPattern("(src|href)=\"(?!data:,)")
        .doesNotContain("@import", "url(");
  }

  @Test
  void nothingInANameBecomesMarkup() {
    var evil = "</script><script>alert(1)</script><!--<script>";
    var run =
        Runs.of(evil, Map.of("metrics", Map.of(evil, 1)), List.of(Runs.series(evil, evil, 1, 2)));
    var page = page(run);
    assertThat(page).doesNotContain("alert(1)</script>");
    assertThat(page.split("<script", -1)).hasSameSizeAs(page(run("one")).split("<script", -1));
    assertThat(data(page).get(0).get("name").asString()).isEqualTo(evil);
    assertThat(data(page).get(0).get("series").get(0).get("chart").asString()).isEqualTo(evil);
  }

  @Test
  void whatIsNotFiniteIsAGap() {
    var run =
        Runs.of(
            "one",
            Map.of(),
            List.of(Runs.series("loss", "training", 3, Double.NaN, Double.POSITIVE_INFINITY, 1)));
    assertThat(data(page(run)).get(0).get("series").get(0).get("y").toString())
        .isEqualTo("[3,null,null,1]");
  }

  /** 40 runs of six curves of 20,000 points are about 90 MB of numbers. */
  @Test
  void aPageIsNeverLargerThanFiveMegabytesAndKeepsPeaks() {
    var random = new Random(3);
    var values = random.doubles(20_000, 1, 2).toArray();
    values[12_345] = 99.5;
    values[7_000] = 0.25;
    var series = IntStream.range(0, 6).mapToObj(it -> Runs.series("m" + it, "", values)).toList();
    var runs =
        IntStream.range(0, 40).mapToObj(it -> Runs.of("run" + it, Map.of(), series)).toList();
    var page = new Report(runs).html();
    assertThat(page.getBytes(StandardCharsets.UTF_8).length).isLessThanOrEqualTo(5_000_000);
    var drawn = data(page).get(39).get("series").get(5).get("y");
    assertThat(drawn.size()).isGreaterThan(100);
    assertThat(drawn.toString()).contains("99.5", "0.25");
  }

  @Test
  void settingsThatDoNotFitAreRefused() {
    var run =
        Runs.of(
            "one",
            Map.of("metrics", Map.of("x".repeat(3_000_000), 1)),
            List.of(Runs.series("y".repeat(3_000_000), "", 1)));
    assertThatThrownBy(() -> page(run))
        .isInstanceOf(RunException.class)
        .hasMessageContaining("do not fit into a page of 5 MB");
  }

  @Test
  void theReportOfAKilledRunIsWrittenAndRenewed() throws IOException {
    var files = RunFolders.begun(temp.resolve("run"), "{\"batch\":64,\"password\":\"canary\"}");
    files.update(10, 2.5).raw("events.jsonl", "{\"event\":\"upda");
    Report.writeInto(files.folder());
    var file = files.folder().resolve("report.html");
    var page = Files.readString(file);
    assertThat(data(page).get(0).get("status").asString()).isEqualTo("unfinished");
    assertThat(page).doesNotContain("canary").contains("(hidden)");
    assertThat(Files.getPosixFilePermissions(file)).hasSize(2);

    files.raw("events.jsonl", "ted\",\"update\":20,\"loss\":1.25}\n");
    files.raw("summary.json", "{\"loss\":1.25}");
    Report.writeInto(files.folder());
    var renewed = data(Files.readString(file)).get(0);
    assertThat(renewed.get("status").asString()).isEqualTo("finished");
    assertThat(renewed.get("series").get(0).get("y").toString()).isEqualTo("[2.5,1.25]");
    assertThat(files.folder()).isDirectoryNotContaining("glob:**.part");
  }

  @Test
  void predictionsStandBesideWhatWasMeasured() {
    var summary =
        Map.<String, Object>of(
            "peak_rss_bytes",
            400_000_000,
            "recomputing",
            Map.of("predicted_peak_bytes", 1000, "measured_peak_bytes", 1100));
    var planned = data(page(Runs.of("one", summary, List.of()))).get(0).get("planned").toString();
    assertThat(planned)
        .contains("[\"updates\",100,100,\"\"]")
        .contains(",740000,400000000,\"B\"]")
        .contains("[\"recomputing: peak bytes\",1000,1100,\"B\"]");
  }

  @Test
  void foreignFilesAreThoseThatWereTakenIn() throws NoSuchAlgorithmException {
    for (var file : List.of("uPlot.iife.min.js", "uPlot.min.css")) {
      var digest = HexFormat.of().formatHex(sha256(Page.resource(file)));
      assertThat(Page.resource("THIRD-PARTY.md"))
          .containsPattern("\\| " + Pattern.quote(file) + " .*\\| " + digest + " \\|");
    }
    assertThat(Page.resource("uPlot.iife.min.js")).contains("v1.6.32");
    assertThat(Page.resource("uPlot.LICENSE")).contains("MIT", "Leon Sorokin");
  }
}
