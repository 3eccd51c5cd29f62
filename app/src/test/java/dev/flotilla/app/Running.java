package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;

/** A command that runs, with all processes that it has started. */
final class Running implements AutoCloseable {

  /** The variable by which processes of one command know each other. */
  static final String MARK = "FLOTILLA_TEST_MARK";

  /** Much more than anything takes, also on a busy machine. */
  static final Duration PATIENCE = Duration.ofMinutes(2);

  private final Process process;
  private final Path streams;
  private final String mark;

  Running(Process process, Path streams, String mark) {
    this.process = process;
    this.streams = streams;
    this.mark = mark;
  }

  Process process() {
    return process;
  }

  String out() {
    return read("out");
  }

  String err() {
    return read("err");
  }

  private String read(String stream) {
    try {
      return Files.readString(streams.resolve(stream));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits until the command has ended. */
  Ended await() {
    return await(PATIENCE);
  }

  /** Waits until the command has ended, which must not take longer than this. */
  Ended await(Duration limit) {
    try {
      boolean ended = process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
      assertThat(ended).as("ended within %s; so far:\n%s\n%s", limit, err(), out()).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for a command", e);
    }
    return new Ended(process.exitValue(), out(), err());
  }

  /** Returns every living process of this command, itself included. */
  List<ProcessHandle> living() {
    return ProcessHandle.allProcesses().filter(it -> has(it, MARK, mark)).toList();
  }

  /** Returns the process of a rank, once it runs. */
  ProcessHandle rank(int rank) {
    Awaitility.await().atMost(PATIENCE).until(() -> find(rank).isPresent());
    return find(rank).orElseThrow();
  }

  private Optional<ProcessHandle> find(int rank) {
    return living().stream().filter(it -> has(it, "RANK", Integer.toString(rank))).findFirst();
  }

  private static boolean has(ProcessHandle process, String name, String value) {
    try {
      var environment = Files.readString(Path.of("/proc/" + process.pid() + "/environ"));
      return ("\0" + environment).contains("\0" + name + "=" + value + "\0");
    } catch (IOException e) {
      return false; // it has ended, or is not ours
    }
  }

  /** Waits until ranks train: rank 0 has logged an update in the run's folder. */
  void awaitTraining(Path run) {
    var events = run.resolve("events.jsonl");
    Awaitility.await()
        .atMost(PATIENCE)
        .until(() -> !process.isAlive() || contains(events, "\"event\":\"updated\""));
    assertThat(process.isAlive()).as("still trains:\n%s\n%s", err(), out()).isTrue();
  }

  private static boolean contains(Path file, String text) throws IOException {
    return Files.exists(file) && Files.readString(file).contains(text);
  }

  /** Sends a signal to a process. */
  static void signal(String name, ProcessHandle target) {
    try {
      var kill = new ProcessBuilder("kill", "-" + name, Long.toString(target.pid())).start();
      assertThat(kill.waitFor(10, TimeUnit.SECONDS) && kill.exitValue() == 0).isTrue();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while sending a signal", e);
    }
  }

  /** Kills whatever is left. */
  @Override
  public void close() {
    process.destroyForcibly();
    living().forEach(ProcessHandle::destroyForcibly);
  }
}
