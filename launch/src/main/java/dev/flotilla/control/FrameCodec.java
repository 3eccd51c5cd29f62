package dev.flotilla.control;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;

/**
 * Turns frames into bytes and back: a length of four bytes, one byte for the kind, then the fields.
 */
final class FrameCodec {

  /** Longest frame among those who know the key. */
  static final int LONGEST = 64 * 1024;

  /** Longest frame of somebody who has not yet proved it. */
  static final int LONGEST_OF_STRANGERS = 4 * 1024;

  private FrameCodec() {}

  /** Returns a frame's bytes, its length before them. */
  static ByteBuffer encode(Frame frame) {
    ByteBuffer payload = payload(frame);
    return ByteBuffer.allocate(Integer.BYTES + payload.remaining())
        .putInt(payload.remaining())
        .put(payload)
        .flip();
  }

  /** Returns a frame's bytes. */
  static ByteBuffer payload(Frame frame) {
    try {
      ByteBuffer payload = output(frame).done();
      if (payload.remaining() > LONGEST) {
        throw new IllegalArgumentException(
            "a frame of %d bytes is too long".formatted(payload.remaining()));
      }
      return payload;
    } catch (IOException e) {
      throw new UncheckedIOException("memory never fails to take bytes", e);
    }
  }

  private static FrameOutput output(Frame frame) throws IOException {
    return switch (frame) {
      case Frame.Challenge(var nonce) -> new FrameOutput(1).bits(nonce);
      case Frame.Hello it ->
          new FrameOutput(2)
              .flag(it.isHost())
              .number(it.number())
              .longNumber(it.instance())
              .number(it.generation())
              .bits(it.nonce())
              .bits(it.proof());
      case Frame.Welcome(var proof) -> new FrameOutput(3).bits(proof);
      case Frame.Refused(var reason) -> new FrameOutput(4).text(reason);
      case Frame.Beat() -> new FrameOutput(5);
      case Frame.StopAsked(var signal) -> new FrameOutput(6).text(signal);
      case Frame.StopRequest() -> new FrameOutput(7);
      case Frame.Position(var microStep, var stops) ->
          new FrameOutput(8).longNumber(microStep).flag(stops);
      case Frame.StopDecision(var microStep) -> new FrameOutput(9).longNumber(microStep);
      case Frame.Leave() -> new FrameOutput(10);
      case Frame.Notice(var failure) -> new FrameOutput(11).failure(failure);
      case Frame.Noted() -> new FrameOutput(12);
      case Frame.Dump(var folder) -> new FrameOutput(13).text(folder);
      case Frame.Dumped() -> new FrameOutput(14);
      case Frame.HostState(var places) -> new FrameOutput(15).places(places);
      case Frame.HostEnded(var generation) -> new FrameOutput(16).number(generation);
      case Frame.NextAttempt(var generation, var delay, var reason) ->
          new FrameOutput(17).number(generation).longNumber(delay).text(reason);
      case Frame.Put(var key, var value) -> new FrameOutput(18).text(key).bytes(value);
      case Frame.Value(var key, var value) -> new FrameOutput(19).text(key).bytes(value);
      case Frame.Sync(var number) -> new FrameOutput(20).longNumber(number);
      case Frame.Synced(var number) -> new FrameOutput(21).longNumber(number);
    };
  }

  /**
   * Reads the bytes behind a frame's length.
   *
   * @throws FrameException if they are no frame
   */
  static Frame decode(ByteBuffer payload) throws FrameException {
    var input = new FrameInput(payload);
    Frame frame = frame(input.tag(), input);
    input.end();
    return frame;
  }

  private static Frame frame(int tag, FrameInput in) throws FrameException {
    return switch (tag) {
      case 1 -> new Frame.Challenge(in.bits());
      case 2 ->
          new Frame.Hello(
              in.flag(), in.number(), in.longNumber(), in.number(), in.bits(), in.bits());
      case 3 -> new Frame.Welcome(in.bits());
      case 4 -> new Frame.Refused(in.text());
      case 5 -> new Frame.Beat();
      case 6 -> new Frame.StopAsked(in.text());
      case 7 -> new Frame.StopRequest();
      case 8 -> new Frame.Position(in.longNumber(), in.flag());
      case 9 -> new Frame.StopDecision(in.longNumber());
      case 10 -> new Frame.Leave();
      case 11 -> new Frame.Notice(in.failure());
      case 12 -> new Frame.Noted();
      case 13 -> new Frame.Dump(in.text());
      case 14 -> new Frame.Dumped();
      case 15 -> new Frame.HostState(in.places());
      case 16 -> new Frame.HostEnded(in.number());
      case 17 -> new Frame.NextAttempt(in.number(), in.longNumber(), in.text());
      case 18 -> new Frame.Put(in.text(), in.bytes());
      case 19 -> new Frame.Value(in.text(), in.bytes());
      case 20 -> new Frame.Sync(in.longNumber());
      case 21 -> new Frame.Synced(in.longNumber());
      default -> throw new FrameException("there is no frame of kind " + tag);
    };
  }
}
