package dev.flotilla.config;

import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.Problem;
import java.util.List;
import java.util.Optional;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.ReaderException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlVersionException;

/** Says in one line why a text is not YAML. */
final class YamlMistake {

  private static final int LONGEST_REASON = 200;

  private YamlMistake() {}

  static ConfigException of(YamlEngineException cause, String text, Place file) {
    return switch (cause) {
      case MarkedYamlEngineException marked -> marked(marked, file);
      case ReaderException unreadable -> unreadable(unreadable, text, file);
      case YamlVersionException version ->
          notYaml(file.text(), "only versions 1.1 and 1.2 of YAML are known");
      default -> notYaml(file.text(), String.valueOf(cause.getMessage()));
    };
  }

  private static ConfigException marked(MarkedYamlEngineException cause, Place file) {
    Optional<Mark> mark = cause.getProblemMark().or(cause::getContextMark);
    String where =
        mark.filter(m -> file.layer() == 0)
            .map(m -> file.line(m.getLine() + 1).text() + ":" + (m.getColumn() + 1))
            .orElse(file.text());
    return notYaml(where, cause.getProblem());
  }

  private static ConfigException unreadable(ReaderException cause, String text, Place file) {
    int end = text.offsetByCodePoints(0, Math.min(cause.getPosition(), text.length()));
    int line = 1 + (int) text.substring(0, end).chars().filter(c -> c == '\n').count();
    String code = "U+%04X".formatted(cause.getCodePoint());
    return notYaml(file.line(line).text(), "character " + code + " is not allowed");
  }

  private static ConfigException notYaml(String where, String reason) {
    String message = "is not YAML: " + Text.shown(reason, LONGEST_REASON);
    return new ConfigException(List.of(new Problem(where, "", message, "")));
  }
}
