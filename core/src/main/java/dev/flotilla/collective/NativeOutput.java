package dev.flotilla.collective;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;

/**
 * Holds back standard output for a while and drops what Gloo printed there.
 *
 * <p>Gloo greets every group on standard output, which belongs to the user's program. The
 * descriptor is one per process, so that users of this class are counted: the first one in diverts
 * it to memory, the last one out turns it back and passes on all that others wrote.
 */
final class NativeOutput implements AutoCloseable {

  private static final String GREETING_START = "[Gloo] Rank ";
  private static final Pattern GREETING =
      Pattern.compile(
          "\\[Gloo\\] Rank \\d+ is connected to \\d+ peer ranks. "
              + "Expected number of connected peer ranks is : \\d+\\n");
  // Ranks that are threads of one process print at once, and their words mix.
  private static final Pattern MIXED_GREETINGS =
      Pattern.compile("(?m)^(.*(\\[Gloo\\] Rank| connected |peer ranks).*|[0-9 ]*)\\n?");
  private static final int OUTPUT = 1;
  private static final CFunction MEMORY_FILE = CFunction.find("memfd_create", ADDRESS, JAVA_INT);
  private static final CFunction DUPLICATE = CFunction.find("dup", JAVA_INT);
  private static final CFunction REPLACE = CFunction.find("dup2", JAVA_INT, JAVA_INT);
  private static final CFunction FLUSH = CFunction.find("fflush", ADDRESS);
  private static final CFunction CLOSE = CFunction.find("close", JAVA_INT);

  private static int users;
  private static int original;
  private static int held;

  private NativeOutput() {}

  static NativeOutput held() {
    synchronized (NativeOutput.class) {
      if (users++ == 0) {
        divert();
      }
    }
    return new NativeOutput();
  }

  @Override
  public void close() {
    synchronized (NativeOutput.class) {
      if (--users == 0) {
        turnBack();
      }
    }
  }

  private static void divert() {
    FLUSH.call(MemorySegment.NULL);
    original = DUPLICATE.call(OUTPUT);
    try (var arena = Arena.ofConfined()) {
      held = MEMORY_FILE.call(arena.allocateFrom("output"), 1);
    }
    REPLACE.call(held, OUTPUT);
  }

  private static void turnBack() {
    FLUSH.call(MemorySegment.NULL);
    REPLACE.call(original, OUTPUT);
    CLOSE.call(original);
    passOn();
    CLOSE.call(held);
  }

  // The stream is not closed: it is the process's own standard output.
  @SuppressWarnings("resource")
  private static void passOn() {
    try {
      var text = Files.readString(Path.of("/proc/self/fd/" + held), ISO_8859_1);
      new FileOutputStream(FileDescriptor.out).write(withoutGreetings(text).getBytes(ISO_8859_1));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot pass on standard output", e);
    }
  }

  private static String withoutGreetings(String text) {
    var rest = GREETING.matcher(text).replaceAll("");
    return rest.contains(GREETING_START) ? MIXED_GREETINGS.matcher(rest).replaceAll("") : rest;
  }
}
