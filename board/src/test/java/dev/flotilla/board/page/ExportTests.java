package dev.flotilla.board.page;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExportTests {

  @TempDir Path temp;

  private static final Report TWO =
      new Report(
          List.of(
              Runs.of(
                  "a,\"b\"",
                  Map.of("accuracy", 0.875, "bytes_sent", 1_000_000L, "updates", 100),
                  List.of(Runs.series("loss", "training", 3, 1), Runs.series("loss", "test", 2.5))),
              Runs.of(
                  "=evil()", Map.of(), List.of(Runs.series("loss", "training", 2, 0.5, 1e-7)))));

  @Test
  void numbersCompareRunsAndListEveryPoint() throws IOException {
    var files = TWO.writeCsv(temp.resolve("csv"));
    assertThat(files)
        .extracting(it -> it.getFileName().toString())
        .containsExactly("runs.csv", "a-b.csv", "evil.csv");
    assertThat(Files.readString(files.get(0)))
        .isEqualTo(
            """
            run,finished,accuracy,test loss,training loss,bytes sent,updates,time\r
            "a,""b""\",true,0.875,2.5,1,1000000,100,90\r
            '=evil(),false,,,1.0E-7,,100,90\r
            """);
    assertThat(Files.readString(files.get(1)))
        .isEqualTo(
            """
            chart,line,unit,update,value\r
            loss,training,,10,3\r
            loss,training,,20,1\r
            loss,test,,10,2.5\r
            """);
  }

  /** Updates 10 to 30 lie between 70 and 700, values 0 to 3 between 336 and 36. */
  @Test
  void aPictureHasItsPointsWhereTheyBelong() throws Exception {
    var report =
        new Report(
            List.of(
                Runs.of("one <b>", Map.of(), List.of(Runs.series("a & b", "training", 3, 1, 0)))));
    var files = report.writeSvg(temp.resolve("svg"));
    assertThat(files).extracting(it -> it.getFileName().toString()).containsExactly("a-b.svg");
    var text = Files.readString(files.getFirst());
    assertThat(text).contains("<path d=\"M70.0 36.0L385.0 236.0L700.0 336.0\"");
    assertThat(text).contains("<title>a &amp; b</title>", "stroke=\"#0072B2\"", ">training</text>");
    var parsed =
        DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(files.getFirst().toFile());
    assertThat(parsed.getDocumentElement().getTagName()).isEqualTo("svg");
  }

  @Test
  void aValueThatIsNotFiniteBreaksTheLine() {
    var line =
        new SvgChart.Line("x", 0, "", Runs.series("loss", "training", 0, 1, Double.NaN, 1, 0));
    assertThat(new SvgChart("loss", List.of(line)).text())
        .contains("d=\"M70.0 336.0L227.5 36.0M542.5 36.0L700.0 336.0\"");
  }

  @Test
  void picturesOfSeveralRunsNameThem() throws IOException {
    var text = Files.readString(TWO.writeSvg(temp.resolve("svg")).getFirst());
    assertThat(text)
        .contains(">a,&quot;b&quot; training<", ">a,&quot;b&quot; test<", ">=evil() training<")
        .contains("stroke-dasharray=\"6 4\"");
  }
}
