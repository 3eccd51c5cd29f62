package dev.flotilla.app;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A command that a document shows behind a {@code $}, with what it printed.
 *
 * @param document the document
 * @param command the line, without the sign and without a comment
 * @param output the lines below it; {@code ...} stands for any number of lines
 */
record DocumentedCommand(Path document, String command, List<String> output) {

  private static final Path ROOT = Path.of("..");
  private static final List<String> LEFT_OUT = List.of("...", "…");
  private static final Pattern WORD = Pattern.compile("'([^']*)'|\"([^\"]*)\"|(\\S+)");

  /** Returns all commands of all documents. */
  static List<DocumentedCommand> all() throws IOException {
    try (var docs = Files.walk(ROOT.resolve("docs"))) {
      return Stream.concat(Stream.of(ROOT.resolve("README.md")), docs)
          .filter(file -> file.toString().endsWith(".md"))
          .flatMap(file -> in(file).stream())
          .toList();
    }
  }

  private static List<DocumentedCommand> in(Path document) {
    List<DocumentedCommand> commands = new ArrayList<>();
    boolean isInBlock = false;
    List<String> output = new ArrayList<>();
    for (String line : lines(document)) {
      if (line.startsWith("```")) {
        isInBlock = !isInBlock;
        output = new ArrayList<>();
      } else if (isInBlock && line.startsWith("$ ")) {
        String command = line.substring(2).replaceFirst("\\s+# .*", "");
        output = new ArrayList<>();
        commands.add(new DocumentedCommand(document, command, output));
      } else if (isInBlock) {
        output.add(line);
      }
    }
    return commands;
  }

  private static List<String> lines(Path document) {
    try {
      return Files.readAllLines(document);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the words of the command as a shell would, quotes taken away. */
  List<String> words() {
    return WORD.matcher(command).results().map(DocumentedCommand::word).toList();
  }

  private static String word(MatchResult found) {
    return Stream.of(1, 2, 3)
        .map(found::group)
        .filter(text -> text != null)
        .findFirst()
        .orElseThrow();
  }

  /** Returns a pattern of what the command must print, with any number where one is shown. */
  Pattern anyNumbers() {
    return pattern("[-+]?[0-9][0-9,.]*(e[-+][0-9]+)?");
  }

  /** Returns a pattern of what the command must print. */
  Pattern exactly() {
    return pattern("(?!)");
  }

  private Pattern pattern(String free) {
    var text = new StringBuilder();
    for (String line : output) {
      text.append(LEFT_OUT.contains(line) ? "(.*\n)*?" : line(line, free) + "\n");
    }
    return Pattern.compile(text.toString());
  }

  private static String line(String line, String free) {
    var text = new StringBuilder();
    int from = 0;
    Matcher numbers = Pattern.compile(free).matcher(line);
    while (numbers.find()) {
      text.append(Pattern.quote(line.substring(from, numbers.start()))).append("\\S+");
      from = numbers.end();
    }
    return text.append(Pattern.quote(line.substring(from))).toString();
  }
}
