package dev.flotilla.config;

import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.Problem;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;

/** Reads the text of a recipe file, within limits. */
final class RecipeFile {

  private static final int MOST_BYTES = 1 << 20;

  private RecipeFile() {}

  static String text(Path file) {
    if (Files.isDirectory(file)) {
      throw refused(file, "is a folder, but must be a recipe file");
    }
    try {
      return decode(file, bytes(file));
    } catch (CharacterCodingException e) {
      throw refused(file, "is not a text file in UTF-8");
    } catch (NoSuchFileException e) {
      throw refused(file, "there is no such recipe file");
    } catch (IOException e) {
      throw refused(file, "cannot be read: " + e);
    }
  }

  private static byte[] bytes(Path file) throws IOException {
    try (var input = Files.newInputStream(file)) {
      byte[] bytes = input.readNBytes(MOST_BYTES + 1);
      if (bytes.length > MOST_BYTES) {
        throw refused(file, "is larger than 1 MB, which no recipe needs to be");
      }
      return bytes;
    }
  }

  private static String decode(Path file, byte[] bytes) throws CharacterCodingException {
    String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    if (text.indexOf('\0') >= 0) {
      throw refused(file, "is a binary file, but must be text in UTF-8");
    }
    return text;
  }

  private static ConfigException refused(Path file, String message) {
    return new ConfigException(
        List.of(new Problem(Text.shown(file.toString(), 300), "", message, "")));
  }
}
