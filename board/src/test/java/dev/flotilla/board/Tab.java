package dev.flotilla.board;

import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import tools.jackson.databind.JsonNode;

/** A page that is open in {@link Chromium}. */
public final class Tab {

  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final Chromium browser;
  private final String session;
  private final List<String> errors = new CopyOnWriteArrayList<>();

  Tab(Chromium browser, String session) {
    this.browser = browser;
    this.session = session;
    browser.listen(this::note);
  }

  private void note(JsonNode message) {
    if (!session.equals(message.path("sessionId").asString(""))) {
      return;
    }
    var parameters = message.path("params");
    switch (message.path("method").asString("")) {
      case "Runtime.exceptionThrown" -> errors.add(parameters.path("exceptionDetails").toString());
      case "Runtime.consoleAPICalled" -> {
        if (parameters.path("type").asString("").matches("error|warning|assert")) {
          errors.add(parameters.path("args").toString());
        }
      }
      case "Log.entryAdded" -> {
        if (parameters.path("entry").path("level").asString("").equals("error")) {
          errors.add(parameters.path("entry").toString());
        }
      }
      default -> {}
    }
  }

  void prepare(int width, int height, boolean isDark) {
    call("Page.enable", Map.of());
    call("Runtime.enable", Map.of());
    call("Log.enable", Map.of());
    size(width, height);
    call(
        "Emulation.setEmulatedMedia",
        Map.of(
            "features",
            List.of(Map.of("name", "prefers-color-scheme", "value", isDark ? "dark" : "light"))));
  }

  /** Makes the window so large. */
  public void size(int width, int height) {
    call(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", width < 600));
  }

  /** Goes to an address. */
  public void go(String url) {
    call("Page.navigate", Map.of("url", url));
  }

  /** Loads the page again. */
  public void reload() {
    call("Page.reload", Map.of());
  }

  /** Returns what an expression gives, as text. */
  public String eval(String expression) {
    var result =
        call(
            "Runtime.evaluate",
            Map.of("expression", "String(" + expression + ")", "awaitPromise", true));
    if (result.has("exceptionDetails")) {
      throw new IllegalStateException(expression + ": " + result.get("exceptionDetails"));
    }
    return result.path("result").path("value").asString("");
  }

  /** Waits until an expression is true. */
  public void await(String expression) throws InterruptedException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    String last = "";
    while (System.nanoTime() < end) {
      try {
        last = eval(expression);
      } catch (IllegalStateException notYet) {
        last = String.valueOf(notYet.getMessage());
      }
      if (last.equals("true")) {
        return;
      }
      Thread.sleep(50);
    }
    throw new AssertionError(
        "%s is still %s; the page says: %s; errors: %s"
            .formatted(expression, last, eval("document.body.innerText"), errors));
  }

  /** Drags the mouse from one point of the window to another. */
  public void drag(double fromX, double fromY, double toX, double toY) {
    mouse("mouseMoved", fromX, fromY, 0);
    mouse("mousePressed", fromX, fromY, 1);
    mouse("mouseMoved", (fromX + toX) / 2, (fromY + toY) / 2, 1);
    mouse("mouseMoved", toX, toY, 1);
    mouse("mouseReleased", toX, toY, 0);
  }

  /** Moves the mouse to a point of the window. */
  public void move(double x, double y) {
    mouse("mouseMoved", x, y, 0);
  }

  private void mouse(String type, double x, double y, int buttons) {
    call(
        "Input.dispatchMouseEvent",
        Map.of(
            "type", type, "x", x, "y", y, "button", "left", "buttons", buttons, "clickCount", 1));
  }

  /** Presses and releases a key, by its name in the DOM: {@code Tab}, {@code Enter}. */
  public void press(String key) {
    var codes = Map.of("Tab", 9, "Enter", 13, "Escape", 27, "ArrowDown", 40, "ArrowUp", 38);
    int code = codes.getOrDefault(key, (int) Character.toUpperCase(key.charAt(0)));
    boolean isCharacter = key.length() == 1 || key.equals("Enter");
    var text = !isCharacter ? "" : key.equals("Enter") ? "\r" : key;
    call(
        "Input.dispatchKeyEvent",
        Map.of(
            "type",
            isCharacter ? "keyDown" : "rawKeyDown",
            "key",
            key,
            "code",
            key,
            "windowsVirtualKeyCode",
            code,
            "text",
            text));
    call(
        "Input.dispatchKeyEvent",
        Map.of("type", "keyUp", "key", key, "code", key, "windowsVirtualKeyCode", code));
  }

  /** Returns a picture of the window as PNG; of the whole page if that is longer. */
  public byte[] picture(boolean isWholePage) {
    var result =
        call(
            "Page.captureScreenshot",
            Map.of("format", "png", "captureBeyondViewport", isWholePage));
    return Base64.getDecoder().decode(result.get("data").asString());
  }

  /** Returns what the console shows in red, and what was thrown. */
  public List<String> errors() {
    return List.copyOf(errors);
  }

  /** Forgets the errors so far. */
  public void clearErrors() {
    errors.clear();
  }

  private JsonNode call(String method, Map<String, Object> parameters) {
    return browser.call(method, parameters, session);
  }
}
