package dev.flotilla.board.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.board.Chromium;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Opens a report in a browser, as a file and without network. */
class ReportBrowserTests {

  private static final String EVIL = "<script>document.title='taken'</script><img src=x>";

  @TempDir Path temp;

  @Test
  void aReportIsDrawnZoomedAndReachedByKeyboard() throws Exception {
    var losses = IntStream.range(0, 500).mapToDouble(it -> 1 + Math.cos(it / 20.0)).toArray();
    var series = List.of(Runs.series("loss", "training", losses), Runs.series(EVIL, EVIL, 1, 2));
    var file = temp.resolve("report.html");
    new Report(List.of(Runs.of(EVIL, Map.of(), series), Runs.of("two", Map.of(), series)))
        .write(file);
    try (var browser = Chromium.orSkip()) {
      var tab = browser.open(file.toUri().toString(), 1280, 900, false);
      tab.await("document.documentElement.dataset.ready !== undefined");
      assertThat(tab.eval("document.querySelectorAll('canvas').length")).isEqualTo("2");
      assertThat(tab.eval("document.querySelectorAll('img, #page script').length")).isEqualTo("0");
      assertThat(tab.eval("document.title")).isEqualTo("2 runs – Flotilla");
      assertThat(tab.eval("document.querySelector('.compare tbody th').textContent"))
          .isEqualTo(EVIL);

      assertThat(tab.eval("document.querySelector('.bar .parts').children.length")).isEqualTo("7");

      tab.eval("(window.shot = document.querySelector('canvas').toDataURL(), 0)");
      tab.eval(
          "document.querySelector('.u-over').scrollIntoView({block: 'center', behavior:"
              + " 'instant'})");
      double x =
          Double.parseDouble(
              tab.eval("document.querySelector('.u-over').getBoundingClientRect().x"));
      double y =
          Double.parseDouble(
              tab.eval("document.querySelector('.u-over').getBoundingClientRect().y"));
      tab.drag(x + 60, y + 60, x + 160, y + 60);
      tab.await("document.querySelector('canvas').toDataURL() !== window.shot");
      tab.eval("document.querySelectorAll('.tool')[1].click()");
      tab.await("document.querySelector('canvas').toDataURL() === window.shot");

      tab.eval("document.querySelector('.tool').focus()");
      tab.press("Enter");
      tab.await("document.querySelector('.tool').getAttribute('aria-pressed') === 'true'");

      tab.eval(
          "(HTMLAnchorElement.prototype.click = function () { window.saved = this.download +"
              + " this.href; }, 0)");
      tab.eval("document.querySelectorAll('.tool')[2].click()");
      tab.await("window.saved !== undefined && window.saved.startsWith('loss.pngblob:')");

      tab.size(390, 844);
      tab.await("document.querySelector('canvas').getBoundingClientRect().width < 390");
      assertThat(tab.eval("document.documentElement.scrollWidth <= innerWidth")).isEqualTo("true");
      assertThat(tab.errors()).isEmpty();
    }
  }
}
