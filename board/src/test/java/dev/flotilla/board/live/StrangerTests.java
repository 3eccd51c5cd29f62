package dev.flotilla.board.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a stranger on the network, or a page in the same browser, gets out of a board: nothing. */
class StrangerTests {

  private static final String CANARY = "canary-7f3a91c2";
  private static final List<String> METHODS =
      List.of("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW");

  @TempDir Path folder;
  private TestBoard board;

  @BeforeEach
  void openBoard() throws IOException {
    Files.writeString(folder.resolve("secret.txt"), CANARY);
    var run = SampleRun.in(folder.resolve("runs/one")).updates(20).finish();
    Files.writeString(run.folder().resolve("report.html"), CANARY);
    Files.writeString(run.folder().resolve("secret.txt"), CANARY);
    board = new TestBoard(folder.resolve("runs"));
  }

  @AfterEach
  void closeBoard() {
    board.close();
  }

  /** With a cookie: even a friend gets no file but those of the program. */
  @Test
  void noPathLeadsToAFile() throws IOException {
    var cookie = board.enter();
    var paths = TraversalPaths.to("secret.txt");
    paths.addAll(List.of("/report.html", "/one/report.html", "/one/events.jsonl", "/runs/one"));
    assertThat(paths).hasSizeGreaterThan(500);
    for (var path : paths) {
      if (path.startsWith("/api/events?")) {
        try (var stream = board.stream(path.substring("/api/events".length()), cookie)) {
          assertThat(firstBytes(stream)).as(path).doesNotContain(CANARY, "root:");
        }
        continue;
      }
      var reply = board.http.ask("GET " + path + " HTTP/1.1\r\n" + board.host(), cookie);
      assertThat(reply.text()).as(path).doesNotContain(CANARY, "root:");
      if (!path.startsWith("/?")) {
        assertThat(reply.status()).as(path).isIn(0, 400, 404);
      }
    }
  }

  private static String firstBytes(Socket stream) throws IOException {
    var bytes = new byte[4096];
    int length = stream.getInputStream().read(bytes);
    return length < 0 ? "" : new String(bytes, 0, length, StandardCharsets.UTF_8);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Host: evil.example",
        "Host: evil.example:80",
        "Host: 127.0.0.1.evil.example",
        "Host: localhost.evil.example",
        "Host: 127.0.0.1@evil.example",
        "Host: 127.0.0.1:1:2",
        "Host: 127.0.0.1:x",
        "Host: [::1",
        "Host: 0.0.0.0",
        "Host: 10.0.0.1",
        "Host: 2130706433",
        "Host:",
        "X-Forwarded-Host: 127.0.0.1",
        "Host: 127.0.0.1\r\nHost: evil.example"
      })
  void otherNamesAreRefused(String header) throws IOException {
    var cookie = board.enter();
    for (var path : List.of("/", "/board.js", "/api/events", "/api/session")) {
      var reply = board.http.ask("GET " + path + " HTTP/1.1\r\n" + header, cookie);
      assertThat(reply.status()).as(header).isIn(400, 403);
      assertThat(reply.text()).doesNotContain("<script", "flotilla_board_");
    }
    assertThat(board.offer(board.token(), header, board.origin()).status()).isIn(400, 403);
  }

  /** {@code ssh -L 9999:127.0.0.1:PORT} makes browsers ask for another port. */
  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.1:9999", "localhost:9999", "LOCALHOST", "[::1]:7007"})
  void namesOfLoopbackAreTakenWithAnyPort(String host) throws IOException {
    var reply = board.http.ask("GET / HTTP/1.1\r\nHost: " + host);
    assertThat(reply.status()).isEqualTo(200);
    assertThat(board.offer(board.token(), "Host: " + host, "Origin: http://" + host).status())
        .isEqualTo(204);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Origin: http://evil.example",
        "Origin: null",
        "Origin: http://127.0.0.1",
        "Origin: http://127.0.0.1:1",
        "Origin: https://127.0.0.1:PORT",
        "Origin: http://localhost:PORT",
        "Origin: http://127.0.0.1:PORT.evil.example",
        "Origin: http://127.0.0.1:PORT\r\nOrigin: http://evil.example",
        "X-Origin: http://127.0.0.1:PORT"
      })
  void otherOriginsAreRefused(String header) throws IOException {
    var origin = header.replace("PORT", String.valueOf(board.board.port()));
    assertThat(board.offer(board.token(), board.host(), origin).status()).isEqualTo(403);
    var cookie = board.enter();
    if (!origin.startsWith("X-")) {
      assertThat(board.get("/api/session", cookie, origin).status()).isEqualTo(403);
      assertThat(board.get("/board.js", cookie, origin).status()).isEqualTo(403);
    }
  }

  @Test
  void anotherPagesScriptGetsNothing() throws IOException {
    var cookie = board.enter();
    assertThat(board.get("/api/session", cookie, "Sec-Fetch-Site: same-origin").status())
        .isEqualTo(204);
    for (var site : List.of("cross-site", "same-site", "none")) {
      var header = "Sec-Fetch-Site: " + site;
      assertThat(board.get("/api/session", cookie, header).status()).isEqualTo(403);
      assertThat(board.get("/api/events", cookie, header).status()).isEqualTo(403);
    }
  }

  @Test
  void onlyListedMethodsAreServed() throws IOException {
    var cookie = board.enter();
    for (var method : METHODS) {
      for (var path : List.of("/", "/board.js", "/board.css", "/api/events", "/api/session")) {
        boolean isRead = method.equals("GET") || method.equals("HEAD");
        boolean isServed =
            path.equals("/api/session")
                ? isRead || method.equals("POST")
                : path.equals("/api/events") ? method.equals("GET") : isRead;
        if (isServed) {
          continue;
        }
        var reply =
            board.http.ask(
                method + " " + path + " HTTP/1.1\r\n" + board.host(), board.origin(), cookie);
        assertThat(reply.status()).as(method + " " + path).isEqualTo(405);
        assertThat(reply.header("Allow")).startsWith("GET");
        assertThat(reply.body()).isEmpty();
      }
    }
  }

  @Test
  void withoutACookieThereIsOnlyTheDoor() throws IOException {
    for (var cookie :
        List.of(
            "X: y",
            "Cookie: flotilla_board_%d=".formatted(board.board.port()),
            "Cookie: flotilla_board_%d=%s".formatted(board.board.port(), "A".repeat(43)),
            "Cookie: flotilla_board_%d=%s".formatted(board.board.port(), board.token()),
            "Cookie: " + board.token())) {
      assertThat(board.get("/", cookie).body()).contains("enter.js").doesNotContain("board.js");
      for (var path : List.of("/board.js", "/api/events", "/api/session")) {
        assertThat(board.get(path, cookie).status()).as(path + " " + cookie).isEqualTo(403);
      }
    }
    assertThat(board.get("/", board.enter()).body()).contains("board.js");
  }

  @Test
  void aTokenOpensOnceAndTheNextLinkIsPrinted() throws IOException {
    var token = board.token();
    assertThat(token).matches("[\\w-]{22}"); // 128 bits
    for (var wrong : List.of("", "x", token.substring(1), token + "A", "A".repeat(22))) {
      assertThat(board.offer(wrong, board.host(), board.origin()).status()).isEqualTo(403);
    }
    assertThat(board.links).isEmpty();
    assertThat(board.offer(token, board.host(), board.origin()).status()).isEqualTo(204);
    assertThat(board.offer(token, board.host(), board.origin()).status()).isEqualTo(403);
    assertThat(board.links).containsExactly(board.board.link());
    assertThat(board.token()).isNotEqualTo(token);
    assertThat(board.offer(board.token(), board.host(), board.origin()).status()).isEqualTo(204);
  }

  @Test
  void noAnswerHoldsTheToken() throws IOException {
    var first = board.token();
    var cookie = board.enter();
    var second = board.token();
    for (var path : List.of("/", "/enter.js", "/board.js", "/board.css", "/api/session", "/x")) {
      for (var with : List.of(cookie, "X: y")) {
        assertThat(board.get(path, with).text()).doesNotContain(first, second);
      }
    }
    assertThat(board.get("/?t=" + second).text()).doesNotContain(second);
    assertThat(board.token()).as("a token in a query opens nothing").isEqualTo(second);
  }

  @Test
  void everyAnswerForbidsWhatPagesMustNotDo() throws IOException {
    var cookie = board.enter();
    for (var path :
        List.of("/", "/board.js", "/enter.js", "/board.css", "/nowhere", "/api/session")) {
      var reply = board.get(path, cookie);
      assertThat(reply.header("Content-Security-Policy"))
          .contains("default-src 'self'", "frame-ancestors 'none'")
          .doesNotContain("unsafe");
      assertThat(reply.header("X-Content-Type-Options")).isEqualTo("nosniff");
      assertThat(reply.header("Cache-Control")).isEqualTo("no-store");
      assertThat(reply.header("Referrer-Policy")).isEqualTo("no-referrer");
    }
    for (var page : List.of(board.get("/").body(), board.get("/", cookie).body())) {
      assertThat(page).doesNotContain("<script>", "<style", " style=", "javascript:");
      assertThat(page).doesNotContainPattern(" on[a-z]+=");
    }
  }

  @Test
  void anAbsoluteTargetIsRefused() throws IOException {
    for (var target :
        List.of("http://evil.example/", "//evil.example/board.js", "http://127.0.0.1/", "*")) {
      var reply = board.http.ask("GET " + target + " HTTP/1.1\r\n" + board.host());
      assertThat(reply.status()).as(target).isIn(0, 400, 404);
    }
  }
}
