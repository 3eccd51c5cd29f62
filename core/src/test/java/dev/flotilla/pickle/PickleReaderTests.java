package dev.flotilla.pickle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class PickleReaderTests {

  private static Pickled read(byte[] pickle) throws PickleException {
    return PickleReader.read(pickle, Set.of("collections.OrderedDict"));
  }

  @Test
  void readsPlainValues() throws PickleException {
    var pickle =
        new PickleWriter()
            .code('}')
            .code('(')
            .text("a")
            .code(']')
            .code('(')
            .whole(1)
            .code('N')
            .code(0x88)
            .code('e')
            .text("b")
            .whole(-3)
            .code('K')
            .code(200)
            .code(0x86)
            .code('u')
            .end();
    var dictionary = (Pickled.Dictionary) read(pickle);
    assertThat(dictionary.entries()).hasSize(2);
    assertThat(dictionary.entries().get(0).value())
        .isEqualTo(
            new Pickled.Sequence(
                List.of(new Pickled.Whole(1), new Pickled.None(), new Pickled.Truth(true))));
    assertThat(dictionary.entries().get(1).value())
        .isEqualTo(new Pickled.Tuple(List.of(new Pickled.Whole(-3), new Pickled.Whole(200))));
  }

  @Test
  void describesACallWithoutMakingIt() throws PickleException {
    var pickle =
        new PickleWriter()
            .global("collections", "OrderedDict")
            .code(')')
            .code('R')
            .text("k")
            .whole(7)
            .code('s')
            .end();
    var call = (Pickled.Call) read(pickle);
    assertThat(call.function()).isEqualTo("collections.OrderedDict");
    assertThat(call.entries().entries())
        .containsExactly(new Pickled.Entry(new Pickled.Text("k"), new Pickled.Whole(7)));
  }

  @Test
  void namesAForbiddenFunctionAndItsByte() {
    var pickle =
        new PickleWriter()
            .global("os", "system")
            .text("touch /tmp/owned")
            .code(0x85)
            .code('R')
            .end();
    assertThatThrownBy(() -> read(pickle))
        .isInstanceOf(PickleException.class)
        .hasMessageContaining("mentions os.system")
        .extracting(e -> ((PickleException) e).position())
        .isEqualTo(2L);
  }

  @Test
  void refusesAForbiddenFunctionThatIsNamedOnTheStack() {
    var pickle = new PickleWriter().text("builtins").text("eval").code(0x93).end();
    assertThatThrownBy(() -> read(pickle)).hasMessageContaining("builtins.eval");
  }

  @Test
  void refusesInstructionsThatMakeObjectsOtherwise() {
    for (int code : new int[] {'i', 'o', 0x82, 0x83, 0x84, 0x92, 0x96, 0xff}) {
      assertThatThrownBy(() -> read(new PickleWriter().code(code).end()))
          .as("0x%02x", code)
          .hasMessageContaining("unknown instruction");
    }
  }

  /** Lists, kept values, begun groups and values that were appended: each takes memory. */
  @ParameterizedTest
  @ValueSource(strings = {"5d4e61", "4e94", "28"})
  void refusesMoreInstructionsThanAStateDictCanHave(String repeated) {
    byte[] instructions = HexFormat.of().parseHex(repeated);
    var pickle = new byte[3 + 2 * PickleReader.MOST_INSTRUCTIONS];
    pickle[0] = ']';
    pickle[1] = 'q';
    pickle[2] = 'q';
    for (int i = 3; i < pickle.length; i++) {
      pickle[i] = instructions[(i - 3) % instructions.length];
    }
    assertThatThrownBy(() -> read(pickle))
        .isInstanceOf(PickleException.class)
        .hasMessageContaining("has more than 4000000 instructions");
  }

  @Test
  void survivesAnythingThatIsNoPickle() {
    var good =
        new PickleWriter()
            .code('}')
            .code('(')
            .text("a")
            .code(']')
            .code('(')
            .whole(1)
            .whole(2)
            .code('e')
            .code('u')
            .end();
    var random = new Random(5);
    for (int round = 0; round < 20_000; round++) {
      byte[] bad = good.clone();
      for (int change = 0; change <= random.nextInt(3); change++) {
        bad[random.nextInt(bad.length)] = (byte) random.nextInt(256);
      }
      int length = random.nextInt(bad.length + 1);
      byte[] cut = java.util.Arrays.copyOf(bad, length);
      try {
        read(cut);
      } catch (PickleException expected) {
        assertThat(expected.position())
            .as(HexFormat.of().formatHex(cut))
            .isBetween(0L, (long) length);
      }
    }
  }
}
