package dev.flotilla.board.live;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.board.Chromium;
import dev.flotilla.board.Tab;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The board as people see it. */
class BoardInBrowserTests {

  private static final String HOSTILE = "<script>document.title='caught'<";
  private static Chromium browser;

  @TempDir Path folder;
  private SampleRun run;
  private TestBoard board;
  private Tab tab;

  @BeforeAll
  static void startBrowser() throws IOException, InterruptedException {
    browser = Chromium.orSkip();
  }

  @AfterAll
  static void endBrowser() throws IOException {
    if (browser != null) {
      browser.close();
    }
  }

  @BeforeEach
  void openBoard() throws IOException, InterruptedException {
    run = SampleRun.in(folder.resolve("20261117-101500_lenet5")).updates(120);
    run.noted("<img src=x onerror=document.title='caught'>");
    SampleRun.in(folder.resolve(HOSTILE)).updates(50).finish();
    board = new TestBoard(folder);
    tab = browser.open(board.board.link(), 1280, 900, false);
    tab.await(
        "document.body.dataset.drawn == 1 && document.querySelectorAll('canvas').length >= 4");
  }

  @AfterEach
  void closeBoard() {
    assertThat(tab.errors()).isEmpty();
    board.close();
  }

  @Test
  void drawsUpdatesAndKeepsAZoom() throws IOException, InterruptedException {
    assertThat(facts()).contains("1,200 of 5,000");
    run.updates(30);
    tab.await("document.querySelector('#page .facts').innerText.includes('1,500 of 5,000')");
    awaitUpdate(0.01, 10, 50);
    drag(0.3, 0.6);
    awaitUpdate(0.01, 400, 500); // 30 % of 10 to 1,500
    run.updates(30);
    tab.await("document.querySelector('#page .facts').innerText.includes('1,800 of 5,000')");
    awaitUpdate(0.01, 400, 500);
    awaitUpdate(0.99, 850, 950);
  }

  private String facts() {
    return tab.eval("document.querySelector('#page .facts').innerText");
  }

  private void drag(double from, double to) {
    tab.drag(x(from), y(), x(to), y() + 5);
  }

  /** Waits until the legend names such an update, with the mouse that far right in the chart. */
  private void awaitUpdate(double share, int least, int most) throws InterruptedException {
    tab.move(x(share), y());
    tab.await(
        "(it => it >= %d && it <= %d)(+document.querySelector('#page .chart .u-value').innerText.replace(',', ''))"
            .formatted(least, most));
  }

  private double x(double share) {
    return over("left") + share * over("width");
  }

  private double y() {
    return over("top") + 50;
  }

  private double over(String side) {
    tab.eval(
        "document.querySelector('#page .chart').scrollIntoView({block: 'center', behavior:"
            + " 'instant'})");
    return Double.parseDouble(
        tab.eval("document.querySelector('#page .chart .u-over').getBoundingClientRect()." + side));
  }

  @Test
  void survivesAReloadWithoutItsToken() throws InterruptedException {
    assertThat(tab.eval("location.href")).doesNotContain("t=").contains("#runs=");
    assertThat(tab.eval("document.documentElement.outerHTML")).doesNotContain(board.token());
    tab.eval("window.old = true");
    tab.reload();
    tab.await("window.old === undefined && document.body.dataset.drawn == 1");
    assertThat(tab.eval("document.cookie")).as("HttpOnly").isEmpty();
    assertThat(tab.eval("document.referrer")).isEmpty();
  }

  /** Under another name of this host the browser has no cookie yet. */
  @Test
  void aLinkThatWasUsedIsExplained() throws InterruptedException {
    var used = "http://localhost:" + board.board.port() + "/#t=" + "A".repeat(22);
    tab.go(used);
    tab.await("document.getElementById('say').innerText.includes('was used already')");
    assertThat(tab.eval("location.hash")).isEmpty();
    tab.clearErrors(); // the console names the refused request
    tab.go(board.board.link().replace("127.0.0.1", "localhost"));
    tab.await("document.body.dataset.drawn == 1");
  }

  @Test
  void showsADeadRunAsSuch() throws IOException, InterruptedException {
    Files.createFile(run.folder().resolve(".lock"));
    run.silentFor(Duration.ofMinutes(1));
    tab.await("document.querySelector('#page .badge').innerText == 'failed'");
    tab.await("document.querySelector('#note .note').innerText.includes('--resume auto')");
    assertThat(tab.eval("document.querySelectorAll('canvas').length >= 4")).isEqualTo("true");
  }

  @Test
  void textOfRunsIsText() throws InterruptedException {
    assertThat(tab.eval("document.getElementById('runs').innerText")).contains(HOSTILE);
    tab.eval(
        "[...document.querySelectorAll('#runs a')].find(it =>"
            + " it.innerText.includes('script')).click()");
    tab.await("document.querySelector('#page h1').innerText.includes('<script>')");
    assertThat(tab.eval("document.title")).doesNotContain("caught");
    assertThat(
            tab.eval("document.querySelectorAll('#runs script, #page img, #page script').length"))
        .isEqualTo("0");
  }

  @Test
  void canBeUsedByKeys() throws InterruptedException {
    tab.press("k");
    tab.await("document.querySelector('#page h1').innerText.includes('<script>')");
    tab.press("j");
    tab.await("document.querySelector('#page h1').innerText.includes('lenet5')");
    tab.eval("document.querySelector('#page .plot').focus()");
    tab.press("+");
    awaitUpdate(0.99, 10, 900);
    tab.press("0");
    awaitUpdate(0.99, 1100, 1200);
    tab.press("/");
    tab.await("document.activeElement.id == 'filter'");
    tab.press("Tab");
    tab.await("document.activeElement.closest('#runs li') != null");
  }

  /** Twice the same run in two folders: both are drawn, and named apart. */
  @Test
  void comparesRuns() throws InterruptedException {
    tab.eval("document.querySelectorAll('#runs input').forEach(it => it.checked || it.click())");
    tab.await("document.body.dataset.drawn == 2");
    assertThat(tab.eval("document.querySelector('#page .compare').innerText"))
        .contains("20261117-101500_lenet5", "<script>");
  }
}
