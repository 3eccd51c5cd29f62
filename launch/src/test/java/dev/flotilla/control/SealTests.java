package dev.flotilla.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class SealTests {

  private static final JobKey KEY = JobKey.of("k".repeat(64));

  private static Seal.Pair caller() {
    return Seal.Pair.of(KEY, "connection 1", false);
  }

  private static Seal.Pair listener() {
    return Seal.Pair.of(KEY, "connection 1", true);
  }

  private static ByteBuffer bytes(String text) {
    return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Seals a text and leaves out the length. */
  private static ByteBuffer closed(Seal seal, int generation, String text) {
    ByteBuffer sealed = seal.close(generation, bytes(text));
    assertThat(sealed.getInt()).isEqualTo(sealed.remaining());
    return sealed.slice();
  }

  private static void assertRefused(Seal seal, ByteBuffer sealed) {
    assertThatThrownBy(() -> seal.open(sealed)).isInstanceOf(FrameException.class);
  }

  @Test
  void opensWhatTheOtherEndClosedWithItsGeneration() throws FrameException {
    Seal out = caller().outgoing();
    Seal in = listener().incoming();
    for (int i = 0; i < 3; i++) {
      ByteBuffer content = in.open(closed(out, 7, "text " + i));
      assertThat(content.getInt()).isEqualTo(7);
      assertThat(content.slice()).isEqualTo(bytes("text " + i));
    }
  }

  @Test
  void refusesAFrameOfWhichOneBitIsChanged() {
    int length = closed(caller().outgoing(), 0, "text").remaining();
    for (int bit = 0; bit < 8 * length; bit++) {
      ByteBuffer sealed = closed(caller().outgoing(), 0, "text");
      sealed.put(bit / 8, (byte) (sealed.get(bit / 8) ^ (1 << (bit % 8))));
      assertRefused(listener().incoming(), sealed);
    }
  }

  @Test
  void refusesAFrameTwiceOutOfOrderBackToItsSenderOrElsewhere() throws FrameException {
    ByteBuffer first = closed(caller().outgoing(), 0, "text");
    Seal in = listener().incoming();
    in.open(first.duplicate());
    assertRefused(in, first.duplicate());

    Seal out = caller().outgoing();
    closed(out, 0, "lost");
    assertRefused(listener().incoming(), closed(out, 0, "next"));

    assertRefused(caller().incoming(), first.duplicate());
    assertRefused(Seal.Pair.of(KEY, "connection 2", true).incoming(), first.duplicate());
    JobKey other = JobKey.of("x".repeat(64));
    assertRefused(Seal.Pair.of(other, "connection 1", true).incoming(), first.duplicate());
  }

  @Test
  void refusesWhatIsTooShortForACode() {
    for (int length = 0; length < Seal.OVERHEAD; length++) {
      assertRefused(listener().incoming(), ByteBuffer.allocate(length));
    }
  }
}
