package dev.flotilla.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class FrameCodecTests {

  private static final Bits256 BITS = new Bits256(1, -2, 3, Long.MIN_VALUE);

  static List<Frame> frames() {
    return List.of(
        new Frame.Challenge(BITS),
        new Frame.Hello(false, 3, 4711, 2, BITS, BITS),
        new Frame.Welcome(BITS),
        new Frame.Refused("wrong job key"),
        new Frame.Beat(),
        new Frame.StopAsked("SIGTERM"),
        new Frame.StopRequest(),
        new Frame.Position(RankPlace.NONE, true),
        new Frame.StopDecision(97),
        new Frame.Leave(),
        new Frame.Notice(notice("ünïcode\n", List.of("a", "b"))),
        new Frame.Noted(),
        new Frame.Dump("/log"),
        new Frame.Dumped(),
        new Frame.HostState(
            List.of(
                RankPlace.unknown(1),
                new RankPlace(2, 391, 97, "saving", 812, "all-reduce", 4096, true))),
        new Frame.HostEnded(1),
        new Frame.NextAttempt(-1, 1000, "no"),
        new Frame.Put("key", ByteBuffer.wrap(new byte[] {1, 2, 3})),
        new Frame.Value("key", ByteBuffer.allocate(0)),
        new Frame.Sync(1),
        new Frame.Synced(Long.MAX_VALUE));
  }

  private static FailureNotice notice(String cause, List<String> lines) {
    return new FailureNotice(1, "host", 99, 137, "SIGKILL", cause, "update 1", "log", lines);
  }

  @ParameterizedTest
  @MethodSource("frames")
  void readsWhatItWrites(Frame frame) throws FrameException {
    assertThat(decode(FrameCodec.encode(frame))).isEqualTo(frame);
  }

  @Test
  void everyKindOfFrameIsTried() {
    assertThat(frames().stream().map(frame -> frame.getClass().getName()))
        .containsExactlyInAnyOrderElementsOf(
            Stream.of(Frame.class.getPermittedSubclasses()).map(Class::getName).toList());
  }

  @Test
  void cutsTextsToTheRoomOfAFrame() {
    String endless = "\u20ac".repeat(100_000);
    var longest = notice(endless, Collections.nCopies(100, endless));

    assertThat(FrameCodec.encode(new Frame.Notice(longest)).remaining())
        .isLessThan(FrameCodec.LONGEST);
    assertThat(longest.lastLines()).hasSize(20);
  }

  @ParameterizedTest
  @MethodSource("frames")
  void refusesEveryFrameThatIsCutOrTooLong(Frame frame) {
    byte[] whole = payload(frame);
    for (int length = 0; length < whole.length; length++) {
      ByteBuffer cut = ByteBuffer.wrap(whole, 0, length).slice();
      assertThatThrownBy(() -> FrameCodec.decode(cut)).isInstanceOf(FrameException.class);
    }
    ByteBuffer extended = ByteBuffer.allocate(whole.length + 1).put(whole).rewind();
    assertThatThrownBy(() -> FrameCodec.decode(extended)).isInstanceOf(FrameException.class);
  }

  /** Anything but a frame or a FrameException ends the test. */
  @Test
  void survivesRandomAndMutatedFrames() {
    var random = new Random(42);
    int taken = 0;
    for (int round = 0; round < 100_000; round++) {
      byte[] bytes = round % 2 == 0 ? noise(random) : mutated(random);
      try {
        Frame frame = FrameCodec.decode(ByteBuffer.wrap(bytes));
        taken++;
        assertThat(FrameCodec.encode(frame).remaining()).isLessThan(FrameCodec.LONGEST);
      } catch (FrameException refused) {
        assertThat(refused).hasMessageNotContaining("null");
      }
    }
    assertThat(taken).as("mutations that are frames still").isBetween(1_000, 90_000);
  }

  private static byte[] noise(Random random) {
    var bytes = new byte[random.nextInt(200)];
    random.nextBytes(bytes);
    if (bytes.length > 0) {
      bytes[0] = (byte) random.nextInt(24);
    }
    return bytes;
  }

  private static byte[] mutated(Random random) {
    byte[] bytes = payload(frames().get(random.nextInt(frames().size())));
    for (int i = random.nextInt(3); i >= 0; i--) {
      bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
    }
    return bytes;
  }

  private static byte[] payload(Frame frame) {
    ByteBuffer encoded = FrameCodec.encode(frame).position(Integer.BYTES);
    var bytes = new byte[encoded.remaining()];
    encoded.get(bytes);
    return bytes;
  }

  private static Frame decode(ByteBuffer encoded) throws FrameException {
    assertThat(encoded.getInt()).isEqualTo(encoded.remaining());
    return FrameCodec.decode(encoded);
  }
}
