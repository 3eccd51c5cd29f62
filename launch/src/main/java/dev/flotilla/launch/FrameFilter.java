package dev.flotilla.launch;

import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;

/**
 * Writes lines, and of a line that was drawn over and over with carriage returns the last frame
 * alone.
 *
 * <p>Holds at most {@value #LONGEST_FRAME} bytes. A longer line is written as it comes; a carriage
 * return after that starts a new line, for what is written cannot be taken back.
 */
final class FrameFilter implements Closeable {

  private static final int LONGEST_FRAME = 64 * 1024;

  private final OutputStream out;
  private final byte[] frame = new byte[LONGEST_FRAME];
  private int length;
  private boolean returned;
  private boolean spilled;

  FrameFilter(OutputStream out) {
    this.out = out;
  }

  void write(byte[] bytes, int count) throws IOException {
    for (int i = 0; i < count; i++) {
      write(bytes[i]);
    }
    out.flush();
  }

  private void write(byte next) throws IOException {
    switch (next) {
      case '\n' -> endLine();
      case '\r' -> returned = true;
      default -> append(next);
    }
  }

  private void append(byte next) throws IOException {
    if (returned) {
      startFrame();
    }
    if (length == LONGEST_FRAME) {
      out.write(frame, 0, length);
      length = 0;
      spilled = true;
    }
    frame[length++] = next;
  }

  private void startFrame() throws IOException {
    if (spilled) {
      endLine();
    }
    length = 0;
    returned = false;
  }

  private void endLine() throws IOException {
    out.write(frame, 0, length);
    out.write('\n');
    length = 0;
    returned = false;
    spilled = false;
  }

  /** Ends the last line and closes the stream. */
  @Override
  public void close() throws IOException {
    try (out) {
      if (length > 0 || spilled) {
        endLine();
      }
    }
  }
}
