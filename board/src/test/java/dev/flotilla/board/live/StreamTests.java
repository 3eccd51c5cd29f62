package dev.flotilla.board.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What open pages are told, and what they cost. */
class StreamTests {

  private static final Pattern ID = Pattern.compile("\"id\":\"([0-9a-f]{16})\"");
  private static final long MIB = 1 << 20;

  @TempDir Path folder;
  private TestBoard board;
  private SampleRun run;

  @BeforeEach
  void openBoard() throws IOException {
    run = SampleRun.in(folder.resolve("one")).updates(30);
    board = new TestBoard(folder);
  }

  @AfterEach
  void closeBoard() {
    board.close();
  }

  private static String idIn(String list) {
    var matcher = ID.matcher(list);
    assertThat(matcher.find()).as(list).isTrue();
    return matcher.group(1);
  }

  @Test
  void anUpdateArrivesAndSoDoesANewRun() throws IOException {
    var cookie = board.enter();
    try (var list = board.stream("", cookie)) {
      var events = new EventReader(list);
      var first = events.next("runs").data();
      assertThat(first).contains("\"name\":\"one\"", "\"state\":\"running\"", "\"update\":300");
      run.updates(1);
      assertThat(events.next("runs").data()).contains("\"update\":310");
      SampleRun.in(folder.resolve("sweep/two")).updates(2).finish();
      var next = events.next("runs").data();
      assertThat(next).contains("\"name\":\"sweep/two\"", "\"state\":\"finished\"");
      try (var page = board.stream("?runs=" + idIn(first), cookie)) {
        var pages = new EventReader(page);
        assertThat(pages.next("run").data()).contains(idIn(first));
        run.updates(1);
        assertThat(pages.next("run").data()).contains("320");
      }
    }
  }

  @Test
  void aRunThatDiesIsShownAsFailedAndOneThatIsGoneIsGone() throws IOException {
    try (var list = board.stream("", board.enter())) {
      var events = new EventReader(list);
      assertThat(events.next("runs").data()).contains("\"state\":\"running\"");
      Files.createFile(run.folder().resolve(".lock")); // nobody holds it
      run.silentFor(Duration.ofMinutes(1));
      assertThat(events.next("runs").data()).contains("\"state\":\"failed\"");
      Files.delete(run.folder().resolve("events.jsonl"));
      assertThat(events.next("runs").data()).doesNotContain("\"state\":\"running\"");
    }
  }

  @Test
  void whatABrowserHasSeenIsNotSentAgain() throws IOException {
    var cookie = board.enter();
    String seen;
    String id;
    try (var stream = board.stream("", cookie)) {
      var list = new EventReader(stream).next("runs");
      seen = list.id();
      id = idIn(list.data());
    }
    try (var again = board.stream("?runs=" + id, cookie, "Last-Event-ID: " + seen)) {
      var events = new EventReader(again);
      var page = events.next("run"); // nothing of the list before it
      assertThat(page.id()).contains(seen.strip());
      run.updates(1);
      assertThat(events.next("runs").data()).contains("\"update\":310");
    }
  }

  /** So no run can notice it. */
  @Test
  void theBoardWritesNothing() throws IOException {
    Files.createFile(run.folder().resolve(".lock"));
    var before = tree();
    var cookie = board.enter();
    try (var list = board.stream("", cookie)) {
      var id = idIn(new EventReader(list).next("runs").data());
      try (var page = board.stream("?runs=" + id, cookie)) {
        assertThat(new EventReader(page).next("run").data()).contains(id);
      }
    }
    board.close();
    assertThat(tree()).isEqualTo(before);
  }

  private List<String> tree() throws IOException {
    try (var files = Files.walk(folder)) {
      List<String> found = new ArrayList<>();
      for (var file : files.sorted().toList()) {
        found.add(file + " " + Files.size(file) + " " + Files.getLastModifiedTime(file));
      }
      return found;
    }
  }

  @Test
  void anUnknownRunIsToldAsGone() throws IOException {
    try (var stream = board.stream("?runs=0123456789abcdef", board.enter())) {
      assertThat(new EventReader(stream).next("run").data())
          .contains("\"gone\":true", "0123456789abcdef");
    }
  }

  /** 500 pages that never read: the oldest make room, and nobody waits for them. */
  @Test
  void slowPagesAreBounded() throws IOException, InterruptedException {
    run.updates(3000);
    var cookie = board.enter();
    String id;
    try (var stream = board.stream("", cookie)) {
      id = idIn(new EventReader(stream).next("runs").data());
    }
    long before = heapInUse();
    List<Socket> slow = new ArrayList<>();
    try {
      for (int i = 0; i < 500; i++) {
        slow.add(board.stream("?runs=" + id, cookie));
      }
      awaitUpdate(cookie, "\"update\":30300");
      run.updates(1);
      awaitUpdate(cookie, "\"update\":30310");
      assertThat(heapInUse() - before).isLessThan(64 * MIB);
    } finally {
      for (var socket : slow) {
        socket.close();
      }
    }
  }

  /** Comes back when dropped, as a browser does: the others may have opened their pages later. */
  private void awaitUpdate(String cookie, String update) throws IOException {
    for (int attempt = 0; attempt < 20; attempt++) {
      try (var reader = board.stream("", cookie)) {
        var events = new EventReader(reader);
        String list = "";
        while (!list.contains(update)) {
          list = events.next("runs").data();
        }
        return;
      } catch (EOFException | SocketException dropped) {
        assertThat(attempt).as("dropped again and again").isLessThan(19);
      }
    }
  }

  private static long heapInUse() throws InterruptedException {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 3; i++) {
      System.gc();
      Thread.sleep(50);
      least =
          Math.min(least, Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory());
    }
    return least;
  }

  /**
   * What a run was told in confidence stays there: in its files, which the board does not serve.
   */
  @Test
  void secretsOfARunAreNeverSent() throws IOException {
    var secret =
        SampleRun.in(
                folder.resolve("secret"),
                """
                {"model":"lenet5","password":"canary-01","data":{"api_key":"canary-02",\
                "url":"https://me:canary-03@host/x","headers":{"Authorization":"Bearer canary-04"},\
                "mirrors":["ftp://canary-05@host/","s3://key:canary-06@bucket"]},\
                "tracker":{"auth_token":"canary-07","secret":["canary-08"],"credentials":{"a":"canary-09"}}}\
                """
                    .replace("\n", ""))
            .noted("reading https://me:canary-10@host/data failed, trying again")
            .updates(3);
    Files.writeString(secret.folder().resolve("recipe.yaml"), "password: canary-11");
    Files.writeString(secret.folder().resolve(".env"), "TOKEN=canary-12");
    var cookie = board.enter();
    String list;
    try (var stream = board.stream("", cookie, "X-Token: canary-13")) {
      list = new EventReader(stream).next("runs").data();
    }
    assertThat(list).contains("secret").doesNotContain("canary");
    var ids = String.join(".", ID.matcher(list).results().map(it -> it.group(1)).toList());
    try (var stream = board.stream("?runs=" + ids, cookie)) {
      var events = new EventReader(stream);
      var pages = events.next("run").data() + events.next("run").data();
      assertThat(pages).contains("(hidden)", "trying again").doesNotContain("canary");
    }
  }

  @Test
  void scriptsInNamesAreText() throws IOException {
    SampleRun.in(folder.resolve("<script>alert(1)<")).updates(1);
    try (var stream = board.stream("", board.enter())) {
      var list = new EventReader(stream).next("runs").data();
      assertThat(list.toLowerCase(Locale.ROOT)).contains("<script>alert(1)<");
    }
  }
}
