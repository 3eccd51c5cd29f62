package dev.flotilla.board;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Assumptions;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Debian's browser, without a window, driven over its DevTools protocol. */
public final class Chromium implements AutoCloseable {

  private static final Path PROGRAM = Path.of("/usr/bin/chromium");
  private static final Duration START = Duration.ofSeconds(60);
  private static final Duration ANSWER = Duration.ofSeconds(30);

  private final Path profile;
  private final Process process;
  private final HttpClient client = HttpClient.newHttpClient();
  private final JsonMapper mapper = JsonMapper.builder().build();
  private final AtomicInteger ids = new AtomicInteger();
  private final Map<Integer, CompletableFuture<JsonNode>> answers = new ConcurrentHashMap<>();
  private final List<Consumer<JsonNode>> listeners = new CopyOnWriteArrayList<>();
  private final WebSocket socket;

  private Chromium(Path profile, Process process, URI address) {
    this.profile = profile;
    this.process = process;
    this.socket =
        client
            .newWebSocketBuilder()
            .buildAsync(address, new Reader())
            .orTimeout(30, TimeUnit.SECONDS)
            .join();
  }

  /** Starts the browser; where there is none, the test is skipped and says so. */
  public static Chromium orSkip() throws IOException, InterruptedException {
    if (!Files.isExecutable(PROGRAM)) {
      System.err.println("SKIPPED: there is no " + PROGRAM + " (Debian: apt install chromium)");
    }
    Assumptions.assumeTrue(Files.isExecutable(PROGRAM), "there is no " + PROGRAM);
    var profile = Files.createTempDirectory("chromium");
    var builder =
        new ProcessBuilder(
            PROGRAM.toString(),
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--remote-debugging-port=0",
            "--remote-allow-origins=*",
            "--user-data-dir=" + profile,
            "about:blank");
    builder.environment().put("HOME", profile.toString());
    builder.redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD);
    var process = builder.start();
    try {
      return new Chromium(profile, process, address(profile, process));
    } catch (RuntimeException | IOException failure) {
      process.destroyForcibly();
      throw failure;
    }
  }

  private static URI address(Path profile, Process process)
      throws IOException, InterruptedException {
    var file = profile.resolve("DevToolsActivePort");
    long end = System.nanoTime() + START.toNanos();
    while (System.nanoTime() < end && process.isAlive()) {
      if (Files.exists(file)) {
        var lines = Files.readAllLines(file);
        if (lines.size() == 2) {
          return URI.create("ws://127.0.0.1:" + lines.get(0) + lines.get(1));
        }
      }
      Thread.sleep(50);
    }
    throw new IOException("the browser did not start in " + START.toSeconds() + " s");
  }

  /** Opens a page in a window of this size. */
  public Tab open(String url, int width, int height, boolean isDark) {
    var target = call("Target.createTarget", Map.of("url", "about:blank"), "");
    var attached =
        call(
            "Target.attachToTarget",
            Map.of("targetId", target.get("targetId").asString(), "flatten", true),
            "");
    var tab = new Tab(this, attached.get("sessionId").asString());
    tab.prepare(width, height, isDark);
    tab.go(url);
    return tab;
  }

  JsonNode call(String method, Map<String, Object> parameters, String session) {
    int id = ids.incrementAndGet();
    var answer = new CompletableFuture<JsonNode>();
    answers.put(id, answer);
    var message = new LinkedHashMap<String, Object>();
    message.put("id", id);
    message.put("method", method);
    message.put("params", parameters);
    if (!session.isEmpty()) {
      message.put("sessionId", session);
    }
    synchronized (socket) {
      socket.sendText(mapper.writeValueAsString(message), true).join();
    }
    var reply = answer.orTimeout(ANSWER.toSeconds(), TimeUnit.SECONDS).join();
    if (reply.has("error")) {
      throw new IllegalStateException(method + ": " + reply.get("error"));
    }
    return reply.get("result");
  }

  void listen(Consumer<JsonNode> listener) {
    listeners.add(listener);
  }

  private void take(JsonNode message) {
    var id = message.get("id");
    if (id == null) {
      listeners.forEach(it -> it.accept(message));
      return;
    }
    var answer = answers.remove(id.asInt());
    if (answer != null) {
      answer.complete(message);
    }
  }

  private final class Reader implements WebSocket.Listener {

    private final StringBuilder text = new StringBuilder();

    @Override
    public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean isLast) {
      text.append(data);
      if (isLast) {
        var message = mapper.readTree(text.toString());
        text.setLength(0);
        take(message);
      }
      from.request(1);
      return CompletableFuture.completedFuture(null);
    }
  }

  @Override
  public void close() throws IOException {
    try {
      socket.abort();
      process.destroy();
      if (!process.waitFor(5, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor(5, TimeUnit.SECONDS);
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    } finally {
      client.close();
      delete();
    }
  }

  /** Helpers of the browser may write for a moment after it has ended. */
  private void delete() throws IOException {
    try (var files = Files.walk(profile)) {
      for (var file : files.sorted(Comparator.reverseOrder()).toList()) {
        file.toFile().delete();
      }
    }
  }
}
