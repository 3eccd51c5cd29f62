package dev.flotilla.zoo.data;

import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.Problem;
import java.io.EOFException;
import java.io.IOException;
import java.util.List;
import java.util.zip.ZipException;

/**
 * An IDX file of unsigned bytes, gzip or not, read strictly.
 *
 * <p>Magic number, sizes and length must be exactly as its kind demands. What is wrong ends in a
 * {@link ConfigException} that names the file, the byte in its unpacked content, and what was
 * expected and found there. Memory is taken only for sizes that the file can really hold.
 */
final class IdxFile {

  private final IdxKind kind;
  private final IdxSource source;

  IdxFile(IdxKind kind, IdxSource source) {
    this.kind = kind;
    this.source = source;
  }

  /** Returns the number of items after a check of header and length, which rarely reads it all. */
  int count() {
    return read(
        reader -> {
          int count = reader.header();
          if (!source.seemsToHave(reader.length())) {
            reader.items(count);
          }
          return count;
        });
  }

  /** Returns all items, one after the other. */
  byte[] items() {
    return read(reader -> reader.items(reader.header()));
  }

  private <T> T read(Reading<T> reading) {
    try (var reader = new IdxReader(kind, source)) {
      return reading.from(reader);
    } catch (EOFException | ZipException e) {
      throw problem("is a damaged gzip file: " + e.getMessage());
    } catch (IOException e) {
      throw problem("cannot be read: " + e.getMessage());
    } catch (IdxReader.Malformed e) {
      throw problem(e.what(), e.fix());
    }
  }

  /** Returns the exception that says what is wrong with this file. */
  ConfigException problem(String what) {
    return problem(what, "copy or download the file again");
  }

  private ConfigException problem(String what, String fix) {
    return new ConfigException(
        List.of(new Problem("", Mnist.KEY, source.name() + ": " + what, fix)));
  }

  /** Takes something from an open file. */
  private interface Reading<T> {
    T from(IdxReader reader) throws IOException, IdxReader.Malformed;
  }
}
