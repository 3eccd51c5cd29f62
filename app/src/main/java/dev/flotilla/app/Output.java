package dev.flotilla.app;

import dev.flotilla.world.ExitCodes;
import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.Charset;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Standard output that remembers whether it could be written, which a {@link PrintStream} hides.
 *
 * <p>What could not be written once is not tried again, so that the output has no holes.
 */
final class Output extends FilterOutputStream {

  private volatile @Nullable IOException failure;

  Output(OutputStream out) {
    super(out);
  }

  /** Puts itself in the place of this process's standard output. */
  static Output install() {
    var output = new Output(new FileOutputStream(FileDescriptor.out));
    var encoding = Charset.forName(System.getProperty("stdout.encoding"), Charset.defaultCharset());
    System.setOut(new PrintStream(new BufferedOutputStream(output, 8192), true, encoding));
    return output;
  }

  /** Returns the exit code of a command that itself has ended with the given one. */
  int exitCode(int ofCommand) {
    System.out.flush();
    IOException why = failure;
    if (why == null || isReaderGone(why)) {
      return ofCommand;
    }
    System.err.println("flotilla: standard output could not be written: " + why.getMessage());
    return ofCommand == ExitCodes.OK ? ExitCodes.FAILED : ofCommand;
  }

  /** Whoever reads through a pipe may leave when it has seen enough, as head does. */
  private static boolean isReaderGone(IOException why) {
    return String.valueOf(why.getMessage()).toLowerCase(Locale.ROOT).contains("pipe");
  }

  @Override
  public void write(int b) throws IOException {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int from, int count) throws IOException {
    if (failure != null) {
      return;
    }
    try {
      out.write(bytes, from, count);
    } catch (IOException e) {
      failure = e;
    }
  }
}
