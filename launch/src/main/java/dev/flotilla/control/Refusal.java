package dev.flotilla.control;

import java.nio.ByteBuffer;

/** The last word to a launcher that is not let in, for whoever else listens in place of a hub. */
public final class Refusal {

  private Refusal() {}

  /** Returns the bytes that a launcher takes for a refusal. */
  public static byte[] bytes(String reason) {
    ByteBuffer frame = FrameCodec.encode(new Frame.Refused(reason));
    var bytes = new byte[frame.remaining()];
    frame.get(bytes);
    return bytes;
  }
}
