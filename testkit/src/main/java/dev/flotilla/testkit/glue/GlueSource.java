package dev.flotilla.testkit.glue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * Writes the C++ source of the glue: JavaCPP's own, less the functions that are not wanted.
 *
 * <p>Run by {@code arm64/build-glue}, from its source: {@code GlueSource BINDING.jar LIST FOLDER}.
 */
public final class GlueSource {

  private static final Pattern FUNCTION = Pattern.compile("(?m)^(?=JNIEXPORT )");
  private static final Pattern NAME = Pattern.compile("JNIEXPORT \\S+ JNICALL (Java_\\w+)\\(");
  private static final Pattern NAMED_DIMENSIONS =
      Pattern.compile("(?m)^static void \\w+_deallocate\\(void \\*p\\) .*at::Dimname.*$");
  private static final Pattern RESIZED_INDICES =
      Pattern.compile(
          "(?s)(TensorIndexVector_resize\\(.{1,900}?ptr->resize\\(\\(size_t\\)arg0)\\)");
  private static final String END_OF_FUNCTION = "\n}\n";

  private GlueSource() {}

  /** Writes {@code jnitorch.cpp} into a folder. */
  public static void main(String[] args) throws Exception {
    var wanted =
        new WantedNatives(Files.readAllLines(Path.of(args[1]))).of(new Binding(Path.of(args[0])));
    var folder = Path.of(args[2]);
    generate(wanted.stream().map(NativeMethod::className).distinct().toList(), folder);
    var source = folder.resolve("jnitorch.cpp");
    var symbols = new HashSet<String>();
    wanted.forEach(method -> symbols.addAll(method.symbols()));
    Files.writeString(source, asLibtorchIs(filtered(Files.readString(source), symbols)));
    System.err.println(wanted.size() + " natives are wanted");
  }

  private static void generate(List<String> classes, Path folder)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of("org.bytedeco.javacpp.tools.Builder", "-nocompile"));
    command.addAll(List.of("-properties", "linux-arm64", "-d", folder.toString()));
    classes.stream().map(name -> name.replaceFirst("\\$.*", "")).distinct().forEach(command::add);
    command.add("org.bytedeco.pytorch.global.torch");
    var builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.redirectOutput(folder.resolve("builder.log").toFile());
    int exitCode = builder.start().waitFor();
    if (exitCode != 0) {
      throw new IOException(
          "JavaCPP's builder ended with " + exitCode + ": see " + folder.resolve("builder.log"));
    }
  }

  /** Sorts what it keeps: JavaCPP's order is that of reflection, which differs from run to run. */
  private static String filtered(String source, Set<String> symbols) {
    int start = source.indexOf("extern \"C\" {");
    var kept = new StringBuilder(source.substring(0, start));
    var functions = new TreeMap<String, String>();
    // What follows a function's end is no part of it: the end of extern "C", for one.
    String rest = "";
    for (var part : FUNCTION.split(source.substring(start), -1)) {
      kept.append(rest);
      var name = NAME.matcher(part);
      int end = name.lookingAt() ? part.indexOf(END_OF_FUNCTION) + END_OF_FUNCTION.length() : 0;
      if (end > 0 && symbols.contains(name.group(1))) {
        functions.put(name.group(1), part.substring(0, end));
      }
      rest = part.substring(end);
    }
    functions.values().forEach(kept::append);
    return kept.append(rest).toString();
  }

  /** The classes are of libtorch 2.10; this is where the headers of 2.13 differ from them. */
  private static String asLibtorchIs(String source) {
    var nothing = ", at::indexing::None)";
    var withoutNames = NAMED_DIMENSIONS.matcher(source).replaceAll("");
    return RESIZED_INDICES
        .matcher(withoutNames)
        .replaceFirst("$1" + nothing)
        .replace(
            "new std::vector<at::indexing::TensorIndex>((size_t)arg0)",
            "new std::vector<at::indexing::TensorIndex>((size_t)arg0" + nothing)
        .replace(
            "new at::indexing::TensorIndex()", "new at::indexing::TensorIndex(at::indexing::None)")
        .replace("ptr->operator float()", "static_cast<float>(*ptr)")
        .replace("#include \"gloo/common/logging.cc\"\n", "")
        .replace(
            "SharedPtrAdapter< torch::autograd::Node >",
            "IntrusivePtrAdapter< torch::autograd::Node >");
  }
}
