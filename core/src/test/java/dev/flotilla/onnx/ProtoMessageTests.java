package dev.flotilla.onnx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.Channels;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The bytes of messages, against the specification of protocol buffers and onnx.proto. */
class ProtoMessageTests {

  private static String hex(ProtoMessage message) throws IOException {
    var bytes = new ByteArrayOutputStream();
    message.writeTo(Channels.newChannel(bytes));
    assertThat(message.size()).isEqualTo(bytes.size());
    return HexFormat.of().formatHex(bytes.toByteArray());
  }

  /** 150 and "testing" are the examples of the specification. */
  @Test
  void fieldsAreEncodedAsSpecified() throws IOException {
    assertThat(hex(new ProtoMessage().number(1, 150))).isEqualTo("089601");
    assertThat(hex(new ProtoMessage().number(1, 0))).isEqualTo("0800");
    assertThat(hex(new ProtoMessage().number(1, -2))).isEqualTo("08feffffffffffffffff01");
    assertThat(hex(new ProtoMessage().number(20, 7))).isEqualTo("a00107");
    assertThat(hex(new ProtoMessage().text(2, "testing"))).isEqualTo("120774657374696e67");
    assertThat(hex(new ProtoMessage().text(2, "é"))).isEqualTo("1202c3a9");
    assertThat(hex(new ProtoMessage().real(2, 1.5f))).isEqualTo("150000c03f");
    assertThat(hex(new ProtoMessage().message(3, new ProtoMessage().number(1, 150))))
        .isEqualTo("1a03089601");
    var data = MemorySegment.ofArray(new byte[] {1, 2, 3});
    assertThat(hex(new ProtoMessage().bytes(9, data).number(1, 1)))
        .isEqualTo("4a03010203" + "0801");
  }

  @Test
  void lengthsOfMoreThanSevenBitsAreCountedInTheMessageAround() throws IOException {
    var inner = new ProtoMessage().bytes(9, MemorySegment.ofArray(new byte[300]));
    assertThat(hex(new ProtoMessage().message(5, inner)))
        .startsWith("2aaf02" + "4aac02" + "0000")
        .hasSize(2 * (3 + 3 + 300));
  }

  /** y = x + w, by the field numbers of onnx.proto, lengths counted by hand. */
  @Test
  void aModelHasTheBytesOfOnnx() throws IOException {
    var graph = new OnnxGraph(_ -> OnnxTensor.of(List.of(2L), 1f, -2f));
    var x = OnnxValue.samples("x", List.of(2L));
    graph.input(x);
    graph.enter("a");
    graph.output("y", graph.add(x, graph.weight("w")));
    var metadata = new TreeMap<>(Map.of("k", "v"));
    var bytes = new ByteArrayOutputStream();
    new OnnxModel(graph, "g", "d", metadata).writeTo(Channels.newChannel(bytes));

    String sum = "07" + "612f4164645f31"; // a/Add_1
    String add = "0a1d" + "0a0178" + "0a0177" + "12" + sum + "1a" + sum + "2203" + "416464";
    String identity = "0a19" + "0a" + sum + "120179" + "1a0179" + "2208" + "4964656e74697479";
    String weight = "2a11" + "0802" + "1001" + "420177" + "4a08" + "0000803f" + "000000c0";
    String type = "1213" + "0a11" + "0801" + "120d" + "0a07" + "12056261746368" + "0a02" + "0802";
    assertThat(HexFormat.of().formatHex(bytes.toByteArray()))
        .isEqualTo(
            "0808" // ir_version 8
                + "1208" // producer_name
                + "666c6f74696c6c61"
                + "320164" // doc_string
                + "3a8401" // graph
                + add
                + identity
                + "120167"
                + weight
                + ("5a18" + "0a0178" + type)
                + ("6218" + "0a0179" + type)
                + "42040a001011" // opset 17 of the default domain
                + "72060a016b120176");
  }

  @Test
  void valuesHaveNamesOfTheirOwn() {
    var graph = new OnnxGraph(_ -> OnnxTensor.of(List.of(1L), 1f));
    graph.input(OnnxValue.samples("x", List.of(1L)));
    assertThat(graph.weight("w")).isEqualTo(graph.weight("w"));
    assertThatThrownBy(() -> graph.input(OnnxValue.samples("x", List.of(1L))))
        .hasMessage("the graph has two values called x");
    assertThatThrownBy(() -> graph.weight("x")).hasMessageContaining("two values called x");
  }

  @Test
  void whatAFileCannotHoldIsRefusedBeforeItIsWritten() {
    // Never touched: the size alone is too much.
    var huge = MemorySegment.ofAddress(8).reinterpret(1L << 31);
    var graph = new OnnxGraph(_ -> new OnnxTensor(OnnxType.FLOAT32, List.of(1L << 29), huge));
    graph.output("y", graph.weight("w"));
    assertThatThrownBy(() -> new OnnxModel(graph, "g", "", new TreeMap<>()))
        .hasMessageContaining("cannot hold more than 2 GiB");
  }
}
