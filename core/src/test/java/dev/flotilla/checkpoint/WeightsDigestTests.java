package dev.flotilla.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.memory.TensorScope;
import java.io.ByteArrayOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch.ScalarType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class WeightsDigestTests {

  private TensorScope scope;

  @BeforeEach
  void open() {
    scope = TensorScope.open();
  }

  @AfterEach
  void close() {
    scope.close();
  }

  @Test
  void isTheSha256OfTheDocumentedBytes() {
    var expected = new ByteArrayOutputStream();
    expected.writeBytes(HexFormat.of().parseHex("0100000000000000" + "61")); // "a"
    expected.writeBytes(HexFormat.of().parseHex("0300000000000000" + "463332")); // "F32"
    expected.writeBytes(HexFormat.of().parseHex("0100000000000000" + "0200000000000000"));
    expected.writeBytes(HexFormat.of().parseHex("0000803f" + "000000c0")); // 1, -2
    expected.writeBytes(HexFormat.of().parseHex("0200000000000000" + "c3a9")); // "é"
    expected.writeBytes(HexFormat.of().parseHex("0300000000000000" + "493634")); // "I64"
    expected.writeBytes(HexFormat.of().parseHex("0000000000000000")); // no dimensions
    expected.writeBytes(HexFormat.of().parseHex("0700000000000000")); // 7
    var seven = Tensors.empty(ScalarType.Long);
    seven.data_ptr_long().put(7L);
    var tensors = ordered("é", seven, "a", Tensors.floats(1, -2));
    assertThat(WeightsDigest.of(tensors)).isEqualTo(sha256(expected.toByteArray()));
  }

  /** Computed once with another program from the documented bytes. */
  @Test
  void staysWhatItWas() {
    assertThat(WeightsDigest.of(Map.of("fc.weight", Tensors.floats(0.5f, 1f, 1.5f))))
        .isEqualTo("75e0e659975889f68bae4b83804dbbb947757c9aae2c98c819be6bbc6da38f5f");
    assertThat(WeightsDigest.of(Map.of())).isEqualTo(sha256(new byte[0]));
  }

  @Test
  void doesNotDependOnTheOrderInWhichTensorsAreGiven() {
    var one = Tensors.floats(1);
    var two = Tensors.floats(2);
    assertThat(WeightsDigest.of(ordered("a", one, "b", two)))
        .isEqualTo(WeightsDigest.of(ordered("b", two, "a", one)))
        .isNotEqualTo(WeightsDigest.of(ordered("a", two, "b", one)));
  }

  @Test
  void differsWithNameTypeShapeAndEveryBit() {
    var digest = WeightsDigest.of(Map.of("a", Tensors.floats(0, 0)));
    var shaped = Tensors.floats(0, 0).view(2, 1);
    var integers = Tensors.random(ScalarType.Int, new ZeroRandom(), 2);
    assertThat(WeightsDigest.of(Map.of("b", Tensors.floats(0, 0)))).isNotEqualTo(digest);
    assertThat(WeightsDigest.of(Map.of("a", shaped))).isNotEqualTo(digest);
    assertThat(WeightsDigest.of(Map.of("a", integers))).isNotEqualTo(digest);
    assertThat(WeightsDigest.of(Map.of("a", Tensors.floats(0, -0f)))).isNotEqualTo(digest);
  }

  @Test
  void refusesTensorsThatHaveNoDenseBytes() {
    var transposed = Tensors.empty(ScalarType.Float, 2, 3).t();
    assertThatThrownBy(() -> WeightsDigest.of(Map.of("w", transposed)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("tensor 'w' must be defined and dense");
    assertThatThrownBy(() -> WeightsDigest.of(Map.of("w", new Tensor())))
        .hasMessage("tensor 'w' must be defined and dense");
    var complex = Tensors.empty(ScalarType.ComplexFloat, 2);
    assertThatThrownBy(() -> WeightsDigest.of(Map.of("w", complex)))
        .hasMessageContaining("tensor 'w' has type ComplexFloat");
  }

  private static Map<String, Tensor> ordered(String a, Tensor first, String b, Tensor second) {
    var tensors = new LinkedHashMap<String, Tensor>();
    tensors.put(a, first);
    tensors.put(b, second);
    return tensors;
  }

  private static String sha256(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }

  /** Fills tensors with zeros. */
  private static final class ZeroRandom extends Random {
    @Override
    public int nextInt(int bound) {
      return 0;
    }
  }
}
