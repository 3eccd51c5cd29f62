package dev.flotilla.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.flotilla.text.Secrets;
import dev.flotilla.world.HostPort;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReportPartsTests {

  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "3 | exit code 3 | out of Java heap",
        "4 | exit code 4 | rejected",
        "6 | exit code 6 | did not find each other",
        "77 | exit code 77 | the program failed",
        "134 | SIGABRT (exit code 134) | an abort in native code",
        "137 | SIGKILL (exit code 137) | out-of-memory killer",
        "139 | SIGSEGV (exit code 139) | hs_err_pid",
        "143 | SIGTERM (exit code 143) | asked to end from outside",
        "190 | signal 62 (exit code 190) | sent from outside",
      })
  void namesExitCodesAndSignals(int code, String description, String cause) {
    assertThat(Signals.describe(code)).isEqualTo(description);
    assertThat(Signals.cause(code)).contains(cause);
  }

  @Test
  void readsTheErrorFileItWrites() throws IOException {
    Path file = folder.resolve("error.0");

    var failure = new IllegalStateException("two\nlines, ünïcode");
    ErrorFile.write(file, "3", "host", failure, new Secrets(Map.of()));

    ErrorFile read = ErrorFile.read(file).orElseThrow();
    assertThat(read.cause()).isEqualTo("java.lang.IllegalStateException: two\nlines, ünïcode");
    assertThat(Files.readString(file)).contains("rank=3", "host=host", "readsTheErrorFileItWrites");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
  }

  @ParameterizedTest
  @CsvSource({"''", "nonsense", "time=yesterday", "a=\\uZZZZ"})
  void takesABrokenErrorFileForNone(String content) throws IOException {
    assertThat(ErrorFile.read(folder.resolve("missing"))).isEmpty();
    Path file = Files.writeString(folder.resolve("error"), content);
    assertThat(ErrorFile.read(file)).isEmpty();
  }

  @Test
  void showsTheLastLinesOfALogWithoutControlCharacters() throws IOException {
    Path log = folder.resolve("log");
    String lines =
        IntStream.range(0, 50_000).mapToObj(i -> "line " + i + "\n").collect(Collectors.joining());
    Files.writeString(log, lines.substring(lines.length() - 300_000) + "\u001b[31mred\n");

    List<String> tail = LogTail.of(log, 3);

    assertThat(tail).containsExactly("line 49998", "line 49999", "?[31mred");
    assertThat(LogTail.of(folder.resolve("missing"), 3)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "h, h, -1",
    "h:5, h, 5",
    "[::1]:5, ::1, 5",
    "::1, ::1, -1",
    "1.2.3.4:65535, 1.2.3.4, 65535"
  })
  void readsHostsAndPorts(String text, String host, int port) {
    assertThat(HostPort.parse(text))
        .contains(new HostPort(host, port < 0 ? OptionalInt.empty() : OptionalInt.of(port)));
  }

  @ParameterizedTest
  @CsvSource({"''", "h:", "h:0", "h:65536", "h:x", "a b", "a/b", "http://h"})
  void refusesWhatIsNoHost(String text) {
    assertThat(HostPort.parse(text)).isEmpty();
  }

  @Test
  void listsAllProblemsOfSettings() {
    LaunchException refusal =
        catchThrowableOfType(
            LaunchException.class,
            () ->
                new LaunchSettings(
                    0,
                    2,
                    2,
                    Optional.empty(),
                    OptionalInt.of(0),
                    List.of("a"),
                    "id",
                    "role",
                    folder,
                    Duration.ofMinutes(1),
                    FailurePolicy.defaults()));

    assertThat(refusal.problems())
        .containsExactly(
            "the number of ranks on this host must be in [1, 1024], but was 0",
            "the number of this host must be in [0, 2), but was 2",
            "2 hosts need the address of host 0 (--master-addr)",
            "the master's port must be in [1, 65535], but was 0",
            "1 hosts are listed, but the number of hosts is 2",
            "the grace period must be in [0, 7] seconds, but was 60.0");
  }
}
