package dev.flotilla.predict;

import java.nio.file.Path;
import java.util.List;

/**
 * What an export has written.
 *
 * @param file where it is
 * @param parameters numbers that were trained
 * @param bytes size of the file
 * @param inputs what an ONNX model takes: name, type and shape of each; empty for weights alone
 * @param outputs what it gives, likewise
 */
public record ExportedFile(
    Path file, long parameters, long bytes, List<String> inputs, List<String> outputs) {

  /** Copies the lists. */
  public ExportedFile {
    inputs = List.copyOf(inputs);
    outputs = List.copyOf(outputs);
  }

  /** Returns a line for the file, and one for each input and output. */
  @Override
  public String toString() {
    var text = new StringBuilder();
    text.append("%,d parameters exported into %s, %,d bytes".formatted(parameters, file, bytes));
    inputs.forEach(input -> text.append("\ntakes ").append(input));
    outputs.forEach(output -> text.append("\ngives ").append(output));
    return text.toString();
  }
}
