package dev.flotilla.launch;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Carries the output of one rank to its log file, and to the console where it is shown.
 *
 * <p>A pump that cannot write goes on reading, for a rank must never wait for its log.
 */
final class LogPump {

  private static final int CHUNK = 64 * 1024;

  private final InputStream input;
  private final FrameFilter log;
  private final Path file;
  private final Console console;
  private final boolean shown;
  private final Thread thread;
  private boolean writable = true;

  private LogPump(InputStream input, RankLog log, Console console, boolean shown)
      throws IOException {
    this.input = input;
    this.log = new FrameFilter(new BufferedOutputStream(log.open(), CHUNK));
    this.file = log.file();
    this.console = console;
    this.shown = shown;
    this.thread =
        Thread.ofPlatform().daemon().name("flotilla-" + file.getFileName()).unstarted(this::pump);
  }

  static LogPump start(InputStream input, RankLog log, Console console, boolean shown)
      throws IOException {
    var pump = new LogPump(input, log, console, shown);
    pump.thread.start();
    return pump;
  }

  /** Waits until all output of a rank that has ended is written; tells whether it is. */
  boolean awaitEnd(Duration longest) throws InterruptedException {
    return thread.join(longest);
  }

  private void pump() {
    try (log) {
      var chunk = new byte[CHUNK];
      for (int count = read(chunk); count >= 0; count = read(chunk)) {
        if (count > 0) {
          carry(chunk, count);
        }
      }
      if (shown) {
        console.passRest();
      }
    } catch (IOException e) {
      giveUp(e);
    }
  }

  /** A stream that the process's end closes under the reader has ended, too. */
  private int read(byte[] chunk) {
    try {
      return input.read(chunk);
    } catch (IOException e) {
      return -1;
    }
  }

  private void carry(byte[] chunk, int count) {
    if (writable) {
      try {
        log.write(chunk, count);
      } catch (IOException e) {
        giveUp(e);
      }
    }
    if (shown) {
      console.pass(chunk, count);
    }
  }

  private void giveUp(IOException failure) {
    if (writable) {
      writable = false;
      console.say("cannot write %s any more: %s".formatted(file, failure.getMessage()));
    }
  }
}
