package dev.flotilla.launch;

import dev.flotilla.control.JobLink;
import dev.flotilla.control.Linked;
import dev.flotilla.world.ExitCoded;
import dev.flotilla.world.ExitCodes;
import dev.flotilla.world.World;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Random;

/**
 * A rank whose behaviour is its arguments: steps such as {@code 1:exit:3}, for rank 1 or, with
 * {@code *}, for all; {@code @1} stands for the second rank of a host.
 */
public final class TestProgram {

  private static final JobLink LINK = JobLink.ofThisProcess();

  private TestProgram() {}

  /** An end because of a peer. */
  static final class PeerGone extends RuntimeException implements ExitCoded {
    PeerGone(String message) {
      super(message);
    }

    @Override
    public int exitCode() {
      return ExitCodes.PEER_FAILED;
    }
  }

  /** Runs the steps of this rank. */
  public static void main(String[] steps) throws Exception {
    String rank = System.getenv("RANK");
    for (String step : steps) {
      String[] parts = step.split(":", 3);
      boolean isLocal = parts[0].equals("@" + System.getenv("LOCAL_RANK"));
      if (parts[0].equals("*") || parts[0].equals(rank) || isLocal) {
        run(parts[1], parts.length > 2 ? parts[2] : "");
      }
    }
  }

  private static void run(String action, String value) throws Exception {
    switch (action) {
      case "print" -> System.out.println(value);
      case "raw" -> {
        System.out.print(value.translateEscapes());
        System.out.flush();
      }
      case "complain" -> System.err.println(value);
      case "sleep" -> Thread.sleep(Long.parseLong(value));
      case "exit" -> System.exit(Integer.parseInt(value));
      case "throw" -> throw new IllegalStateException(value);
      case "peer" -> throw new PeerGone(value);
      case "halt" -> Runtime.getRuntime().halt(Integer.parseInt(value));
      case "exhaust" -> exhaust();
      case "once" -> failOnce(Path.of(value));
      case "link" -> Linked.await();
      case "doing" -> LINK.doing(value);
      case "begin" -> begin(value.split("/", -1));
      case "collectives" -> collectives(Integer.parseInt(value));
      case "enter" -> LINK.collectives().starting(value, 4096, "Float");
      case "train" -> train(value.split("/", -1));
      case "memory" -> throw new OutOfMemoryError(value);
      case "signal" -> signalSelf(value);
      case "ignoreTerm" -> Runtime.getRuntime().addShutdownHook(new Thread(TestProgram::sleepLong));
      case "touch" -> Files.createFile(Path.of(value));
      case "await" -> awaitFile(Path.of(value));
      case "child" -> startChild(Path.of(value));
      case "env" -> System.out.println(value + "=" + System.getenv(value));
      case "time" -> System.out.println("time " + Instant.now().getEpochSecond());
      case "place" -> printPlace();
      case "input" -> System.out.println("input " + System.in.read());
      case "spew" -> spew(Integer.parseInt(value));
      case "pid" -> Files.writeString(Path.of(value), "" + ProcessHandle.current().pid());
      default -> throw new IllegalArgumentException(action);
    }
  }

  private static void failOnce(Path marker) throws IOException {
    if (!Files.exists(marker)) {
      Files.createFile(marker);
      throw new IllegalStateException("the first time");
    }
  }

  private static void begin(String[] numbers) {
    LINK.begin(Long.parseLong(numbers[0]), Long.parseLong(numbers[1]));
  }

  private static void collectives(int count) {
    for (int i = 0; i < count; i++) {
      LINK.collectives().finished(LINK.collectives().starting("all-reduce", 4096, "Float"));
    }
  }

  /** Plays a training of so many micro-steps, each with a pause of at most so many milliseconds. */
  private static void train(String[] numbers) throws InterruptedException {
    var random = new Random();
    for (long microStep = 1; microStep <= Long.parseLong(numbers[0]); microStep++) {
      LINK.begin(microStep, microStep / 4);
      Thread.sleep(random.nextLong(Long.parseLong(numbers[1])));
      if (LINK.stopsAfter(microStep)) {
        System.out.println("saved after " + microStep);
        System.exit(ExitCodes.STOPPED);
      }
    }
    System.out.println("done");
  }

  private static void exhaust() {
    var hoard = new ArrayList<long[]>();
    while (!hoard.contains(null)) {
      hoard.add(new long[1024 * 1024]);
    }
  }

  private static void signalSelf(String signal) throws Exception {
    String pid = Long.toString(ProcessHandle.current().pid());
    new ProcessBuilder("kill", "-" + signal, pid).start().waitFor();
    Thread.sleep(60_000);
  }

  private static void sleepLong() {
    try {
      Thread.sleep(60_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void awaitFile(Path file) throws InterruptedException {
    while (!Files.exists(file)) {
      Thread.sleep(10);
    }
  }

  private static void startChild(Path pidFile) throws IOException {
    Process child = new ProcessBuilder("sleep", "300").inheritIO().start();
    Files.writeString(pidFile, Long.toString(child.pid()));
  }

  private static void printPlace() {
    System.out.println(World.join());
  }

  private static void spew(int megabytes) {
    var chunk = new byte[1024 * 1024];
    Arrays.fill(chunk, (byte) 'x');
    for (int i = 0; i < megabytes; i++) {
      System.out.write(chunk, 0, chunk.length);
    }
    System.out.println("end");
  }
}
