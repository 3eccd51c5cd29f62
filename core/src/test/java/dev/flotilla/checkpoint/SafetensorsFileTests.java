package dev.flotilla.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.world.ExitCodes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HexFormat;
import java.util.regex.Pattern;
import org.bytedeco.pytorch.global.torch.ScalarType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SafetensorsFileTests {

  @TempDir Path folder;

  /** Each row: header, number of data bytes, part of the message. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      maxCharsPerColumn = 10_000,
      textBlock =
          """
          []                                                       | 0 | does not start with '{'
          ` {}`                                                    | 0 | does not start with '{'
          {}{}                                                     | 0 | text follows
          {"a":1}                                                  | 0 | entry of tensor 'a' must be an object, but an integer
          {"a":null}                                               | 0 | but null was found
          {"a":{}}                                                 | 0 | must have dtype, shape and data_offsets
          {"a":{"dtype":"F32","shape":[1]}}                        | 4 | must have dtype, shape and data_offsets
          {"a":{"dtype":"F31","shape":[1],"data_offsets":[0,4]}}   | 4 | dtype of tensor 'a' is 'F31', but must be one of [F64, F32,
          {"a":{"dtype":"f32","shape":[1],"data_offsets":[0,4]}}   | 4 | is 'f32', but must be
          {"a":{"dtype":32,"shape":[1],"data_offsets":[0,4]}}      | 4 | dtype of tensor 'a' must be a text
          {"a":{"dtype":"F32","shape":1,"data_offsets":[0,4]}}     | 4 | shape of tensor 'a' must be an array
          {"a":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}} | 4 | must be an integer, but a fraction
          {"a":{"dtype":"F32","shape":["1"],"data_offsets":[0,4]}} | 4 | must be an integer, but a text
          {"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}  | 4 | shape of tensor 'a' holds the negative number -1
          {"a":{"dtype":"F32","shape":[[1]],"data_offsets":[0,4]}} | 4 | not the expected JSON
          {"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}}     | 4 | must be two numbers in order, but is [0]
          {"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4,8]}} | 4 | more than 2 elements
          {"a":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}}  | 4 | negative number -4
          {"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}}   | 4 | must be two numbers in order, but is [4, 0]
          {"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}   | 4 | is F32 [2] and needs 8 bytes, but its data_offsets hold 4
          {"a":{"dtype":"F32","shape":[],"data_offsets":[0,0]}}    | 0 | is F32 [] and needs 4 bytes, but its data_offsets hold 0
          {"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}   | 8 | leaves a hole after the one before: it begins at data byte 4, expected 0
          {"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}   | 8 | the tensors take 4 data bytes, but it has 8
          {"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}   | 4 | the tensors take 8 data bytes, but it has 4
          {"a":{"dtype":"F32","shape":[0],"data_offsets":[9,9]}}   | 4 | leaves a hole
          {"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1}}                                | 4 | unknown key 'x'
          {"a":{"dtype":"F32","shape":[1],"shape":[1],"data_offsets":[0,4]}}                          | 4 | has shape twice
          {"a":{"dtype":"F32","shape":[1],"data_offsets":[9223372036854775807,9223372036854775807]}}  | 0 | needs 4 bytes
          {"a":{"dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,4]}}                    | 4 | not the expected JSON
          {"a":{"dtype":"F32","shape":[99999999999999999999999],"data_offsets":[0,4]}}                | 4 | not the expected JSON
          {"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}                  | 0 | larger than any memory
          {"a":{"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0]}}                    | 0 | larger than any memory
          {"a":{"dtype":"F32","shape":[0,4294967296,4294967296],"data_offsets":[0,0]}}                | 0 | larger than any memory
          {"":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}                                       | 4 | name of a tensor is empty
          {"a\\u0000b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}                              | 4 | holds a NUL character: 'a?b'
          {"\\ud800":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}                                | 4 | surrogate
          {"\\udc00":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}                                | 4 | surrogate
          {"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}} | 2 | the header has 'a' twice
          {"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}} | 3 | tensor 'b' overlaps the one before: it begins at data byte 1, expected 2
          {"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}} | 2 | tensor 'b' overlaps
          {"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}} | 3 | tensor 'b' leaves a hole
          {"__metadata__":{},"__metadata__":{}}                    | 0 | has __metadata__ twice
          {"__metadata__":{"a":"1","a":"2"}}                       | 0 | __metadata__ has 'a' twice
          {"__metadata__":{"a":1}}                                 | 0 | 'a' of __metadata__ must be a text
          {"__metadata__":[]}                                      | 0 | __metadata__ must be an object
          {"a":                                                    | 0 | not the expected JSON
          {"a" 1}                                                  | 0 | not the expected JSON
          {/* */}                                                  | 0 | not the expected JSON
          {"a":{"dtype":"F32","shape":[1,],"data_offsets":[0,4]}}  | 4 | not the expected JSON
          {"a":{"dtype":"F32","shape":[01],"data_offsets":[0,4]}}  | 4 | not the expected JSON
          {'a':1}                                                  | 0 | not the expected JSON
          """)
  void refusesAMalformedHeader(String header, int dataBytes, String message) throws IOException {
    requireRefusal(file(utf8(header), dataBytes), message);
  }

  @Test
  void refusesAHeaderLengthThatCannotBe() throws IOException {
    requireRefusal(new byte[0], "it has 0 bytes, fewer than the 8");
    requireRefusal(new byte[7], "it has 7 bytes, fewer than the 8");
    requireRefusal(withLength(0, 8), "length at byte 0 is 0, but must be from 2 to 8");
    requireRefusal(withLength(1, 8), "length at byte 0 is 1,");
    requireRefusal(withLength(9, 8), "length at byte 0 is 9, but must be from 2 to 8");
    requireRefusal(withLength(100_000_001, 8), "length at byte 0 is 100000001,");
    requireRefusal(withLength(Long.MAX_VALUE, 8), "length at byte 0 is 9223372036854775807,");
    requireRefusal(withLength(Long.MIN_VALUE, 8), "length at byte 0 is 9223372036854775808,");
    requireRefusal(withLength(-1, 8), "length at byte 0 is 18446744073709551615,");
  }

  /**
   * A sparse file: its size is a promise of 200 MB that the header's length must not be taken at.
   */
  @Test
  void refusesAHeaderOfMoreThan100MegabytesBeforeReadingIt() throws IOException {
    var file = write(withLength(150_000_000, 8));
    try (var channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.allocate(1), 200_000_000);
    }
    assertThatThrownBy(() -> SafetensorsFile.open(file))
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining("is 150000000, but must be from 2 to 100000000");
  }

  @Test
  void refusesTextThatIsNotUtf8() throws IOException {
    byte[] header = utf8("{\"aXYZ\":1}");
    for (var bad : new String[] {"ff6161", "c0af61", "eda080", "e28261"}) {
      System.arraycopy(HexFormat.of().parseHex(bad), 0, header, 3, 3);
      requireRefusal(file(header, 0), "the header is not valid UTF-8 at byte 11");
    }
    requireRefusal(file(new byte[] {'{', (byte) 0xc3}, 0), "not valid UTF-8 at byte 9");
    byte[] large = utf8("{\"" + "é".repeat(100_000) + "\":1}");
    large[150_000] = 'x';
    requireRefusal(file(large, 0), "not valid UTF-8 at byte 150009");
  }

  @Test
  void refusesDepthSizeAndNumber() throws IOException {
    requireRefusal(file(utf8("{\"a\":".repeat(10_000)), 0), "must have dtype|unknown key|JSON");
    requireRefusal(file(utf8("{\"a\":" + "[".repeat(10_000)), 0), "must be an object");
    requireRefusal(
        file(utf8("{\"" + "x".repeat(1_100_000) + "\":{}}"), 0), "JSON|longer than 1 MiB");
    var shape = "0,".repeat(64) + "0";
    requireRefusal(file(utf8("{\"a\":{\"shape\":[" + shape + "]}}"), 0), "more than 64 elements");
    var many = new StringBuilder("{\"__metadata__\":{\"k\":\"\"");
    for (int i = 0; i < HeaderParser.MAX_ENTRIES; i++) {
      many.append(",\"").append(i).append("\":\"\"");
    }
    requireRefusal(file(utf8(many + "}}"), 0), "more than 100,000 entries");
  }

  @Test
  void refusesWhatIsNotAFile() {
    assertThatThrownBy(() -> SafetensorsFile.open(folder))
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining("not a regular file");
    var missing = folder.resolve("missing.safetensors");
    assertThatThrownBy(() -> SafetensorsFile.open(missing))
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining("cannot read %s: no such file".formatted(missing));
    assertThat(new CheckpointException("").exitCode()).isEqualTo(ExitCodes.CHECKPOINT);
  }

  @Test
  void readsWhatOtherProgramsWrite() throws IOException {
    var header =
        "{ \"b\" : {\"shape\":[],\"data_offsets\":[2,4],\"dtype\":\"F16\"},\n"
            + "\"a\":{\"dtype\":\"I8\",\"shape\":[2,1],\"data_offsets\":[0,2]} }   ";
    try (var opened = SafetensorsFile.open(write(file(utf8(header), 4)))) {
      assertThat(opened.tensors()).hasToString("[I8 [2, 1], F16 []]");
      assertThat(opened.info("b").begin()).isEqualTo(2);
      assertThat(opened.metadata()).isEmpty();
      assertThat(opened.contains("c")).isFalse();
    }
    try (var nothing = SafetensorsFile.open(write(file(utf8("{}"), 0)))) {
      assertThat(nothing.tensors()).isEmpty();
    }
  }

  @Test
  void namesBothSidesWhenATensorDoesNotFit() throws IOException {
    var header = "{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}";
    var file = write(file(utf8(header), 8));
    try (var scope = TensorScope.open();
        var opened = SafetensorsFile.open(file)) {
      assertThatThrownBy(() -> opened.copyInto("v", Tensors.floats(1)))
          .isInstanceOf(CheckpointException.class)
          .hasMessage(file + " holds no tensor 'v' among its 1");
      var longer = Tensors.floats(1, 2, 3);
      assertThatThrownBy(() -> opened.copyInto("w", longer))
          .isInstanceOf(CheckpointException.class)
          .hasMessage("tensor 'w' is F32 [2] in %s, but F32 [3] in the model".formatted(file));
      assertThatThrownBy(() -> opened.copyInto("w", Tensors.empty(ScalarType.Int, 2)))
          .hasMessageContaining("but I32 [2] in the model");
      assertThat(longer.data_ptr_float().get(1)).isEqualTo(2);
      assertThat(scope).isNotNull();
    }
  }

  /** As a disk that fails does, a file that has become shorter makes its mapped memory fault. */
  @Test
  void bytesThatCannotBeReadAreAnError() throws IOException {
    var header = "{\"w\":{\"dtype\":\"F32\",\"shape\":[25000],\"data_offsets\":[0,100000]}}";
    var file = write(file(utf8(header), 100_000));
    try (var _ = TensorScope.open();
        var opened = SafetensorsFile.open(file)) {
      Files.write(file, new byte[0]);
      var target = Tensors.empty(ScalarType.Float, 25_000);
      assertThatThrownBy(() -> opened.copyInto("w", target))
          .isInstanceOf(CheckpointException.class)
          .hasMessageContaining("cannot read " + file)
          .hasMessageContaining("the disk failed, or the file was cut while it was open");
    }
  }

  @Test
  void refusesABooleanThatIsNeitherTrueNorFalse() throws IOException {
    var bytes = file(utf8("{\"m\":{\"dtype\":\"BOOL\",\"shape\":[3],\"data_offsets\":[0,3]}}"), 3);
    bytes[bytes.length - 1] = 2;
    try (var scope = TensorScope.open();
        var opened = SafetensorsFile.open(write(bytes))) {
      var target = Tensors.empty(ScalarType.Bool, 3);
      assertThatThrownBy(() -> opened.copyInto("m", target))
          .isInstanceOf(CheckpointException.class)
          .hasMessageContaining("byte 2 at byte %d of the file is 2".formatted(bytes.length - 1));
      assertThat(scope).isNotNull();
    }
  }

  private void requireRefusal(byte[] content, String message) throws IOException {
    var file = write(content);
    assertThatThrownBy(() -> SafetensorsFile.open(file))
        .isInstanceOf(CheckpointException.class)
        .hasMessageContaining(file + " is not a valid safetensors file: ")
        .message()
        .containsPattern(message.contains("|") ? message : Pattern.quote(message))
        .hasSizeLessThan(1000);
  }

  private Path write(byte[] content) throws IOException {
    return Files.write(folder.resolve("model.safetensors"), content);
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] file(byte[] header, int dataBytes) {
    return ByteBuffer.allocate(8 + header.length + dataBytes)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(header.length)
        .put(header)
        .array();
  }

  private static byte[] withLength(long length, int rest) {
    return ByteBuffer.allocate(8 + rest).order(ByteOrder.LITTLE_ENDIAN).putLong(length).array();
  }
}
