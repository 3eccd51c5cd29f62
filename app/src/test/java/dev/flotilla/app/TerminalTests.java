package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.flotilla.report.TrainingEvent;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What people see: colours, more, less, and completed words. */
class TerminalTests {

  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource({
    "'', true, true",
    "'', false, false",
    "NO_COLOR=1, true, false",
    "NO_COLOR=, true, true",
    "CLICOLOR=0, true, false",
    "CLICOLOR=1, true, true",
    "CLICOLOR=1, false, false",
    "TERM=dumb, true, false",
    "TERM=xterm, true, true",
    "CLICOLOR_FORCE=1, false, true",
    "CLICOLOR_FORCE=0, false, false",
    "CLICOLOR_FORCE=1 NO_COLOR=1, true, false",
  })
  void coloursRespectTheEnvironment(String variables, boolean isTerminal, boolean areOn) {
    Map<String, String> environment = new LinkedHashMap<>();
    for (var variable : variables.split(" ", -1)) {
      var parts = variable.split("=", -1);
      if (parts.length == 2) {
        environment.put(parts[0], parts[1]);
      }
    }
    assertThat(Colours.in(environment, isTerminal).areOn()).isEqualTo(areOn);
  }

  @Test
  void coloursAreClosed() {
    assertThat(new Colours(true).wrong("no")).isEqualTo("\u001b[31;1mno\u001b[0m");
    assertThat(Colours.NONE.wrong("no")).isEqualTo("no");
  }

  private static String told(Detail detail, Colours colours) {
    var bytes = new ByteArrayOutputStream();
    var out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
    var console = new Console(out, OptionalInt.empty(), detail, colours);
    console.on(new TrainingEvent.Started(1, 1000, 20, 1));
    console.on(new TrainingEvent.Timed(10, Map.of("forward", 0.25), 4_000_000, 0, null));
    console.on(new TrainingEvent.Updated(0, 10, 10, 0.5, 0.1, null, null, 64));
    console.on(new TrainingEvent.Noted("look"));
    console.on(new TrainingEvent.Saved(10, 10));
    console.on(new TrainingEvent.EpochEnded(0, 20, 1.5));
    console.on(new TrainingEvent.Finished(Map.of("samples_per_second", 64.0)));
    return bytes.toString(StandardCharsets.UTF_8);
  }

  @Test
  void tellsLessOrMore() {
    assertThat(told(Detail.QUIET, Colours.NONE)).isEqualTo("note: look\n");
    assertThat(told(Detail.USUAL, Colours.NONE))
        .startsWith("training 1,000 parameters")
        .contains("note: look\ndone")
        .doesNotContain("update 10/20", "checkpoint", "epoch 1 ended");
    assertThat(told(Detail.VERBOSE, Colours.NONE))
        .contains("update 10/20  loss 0.5000")
        .contains("update 10  seconds so far: forward 0.25  memory 4 MB  sent 0.0 MB")
        .contains("checkpoint after update 10\nepoch 1 ended: 20 updates in 1.5 s\ndone");
    assertThat(told(Detail.USUAL, new Colours(true)))
        .contains("\u001b[33mnote:\u001b[0m look", "\u001b[32mdone\u001b[0m");
  }

  @Test
  void quietAndVerboseExcludeEachOther() {
    assertThatThrownBy(() -> TrainCommand.parse(List.of("-q", "-v")).detail())
        .hasMessage("--quiet: cannot go with --verbose; leave one of them out");
    assertThat(TrainCommand.parse(List.of("--verbose")).detail()).isEqualTo(Detail.VERBOSE);
  }

  /** Asks bash itself, as the tabulator key does. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "flotilla tra | train",
        "flotilla exa | examples",
        "flotilla plan --nproc- | --nproc-per-node",
        "flotilla run --master-a | --master-addr",
        "flotilla run --max-s | --max-steps",
      })
  void bashCompletesWords(String typed, String completed) throws IOException, InterruptedException {
    var script = Files.writeString(folder.resolve("completion"), CompletionCommand.script());
    var words = typed.split(" ", -1);
    var ask =
        """
        source '%s'
        COMP_WORDS=(%s); COMP_CWORD=%d; COMP_LINE='%s'; COMP_POINT=${#COMP_LINE}
        _complete_flotilla
        printf '%%s\\n' "${COMPREPLY[@]}"
        """
            .formatted(script, typed, words.length - 1, typed);
    assertThat(bash(ask).lines()).contains(completed);
  }

  private static String bash(String commands) throws InterruptedException {
    try {
      var process =
          new ProcessBuilder("bash", "--norc", "-c", commands).redirectErrorStream(true).start();
      var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
      return output;
    } catch (IOException missing) {
      System.err.println("skipped: no bash here");
      return abort("no bash here: " + missing.getMessage());
    }
  }
}
