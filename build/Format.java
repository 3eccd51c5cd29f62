import com.google.googlejavaformat.java.Main;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Checks, or with "apply" mends, the format of every Java file with google-java-format.
 *
 * <p>Run by the build through the toolchain's java, so that the check does not depend on the Java
 * version that runs Maven.
 */
final class Format {

  private static final int COLUMNS = 100;
  private static final List<String> CHECK = List.of("--dry-run");

  public static void main(String[] arguments) throws Exception {
    boolean apply = arguments.length > 0 && arguments[0].equals("apply");
    var doubtful = doubtful(javaFiles());
    String unformatted = format(apply ? List.of("--replace") : CHECK, doubtful);
    if (!unformatted.isEmpty()) {
      System.out.print(unformatted);
      System.err.println(
          "The files above are not formatted; mend with: mvn -pl build validate -Dformat=apply");
      System.exit(1);
    }
  }

  private static List<String> javaFiles() throws IOException {
    try (var files = Files.walk(Path.of(""))) {
      return files
          .map(Path::toString)
          .filter(file -> file.endsWith(".java") && !file.contains("target/"))
          .toList();
    }
  }

  /**
   * Returns all but what a quick look finds formatted: it leaves out to wrap strings, which takes a
   * quarter of the time and changes nothing where no line is too long.
   */
  private static List<String> doubtful(List<String> files) throws Exception {
    var plain = files.stream().filter(file -> !hasStringsToWrap(file)).toList();
    var quick = Stream.concat(CHECK.stream(), Stream.of("--skip-reflowing-long-strings")).toList();
    return Stream.concat(
            files.stream().filter(Format::hasStringsToWrap), format(quick, plain).lines())
        .toList();
  }

  /** Returns the names of the files that were not formatted, where options ask for them. */
  private static String format(List<String> options, List<String> files) throws Exception {
    var out = new StringWriter();
    var arguments = Stream.concat(options.stream(), files.stream()).toArray(String[]::new);
    if (!files.isEmpty()) {
      int code =
          new Main(new PrintWriter(out), new PrintWriter(System.err, true), System.in)
              .format(arguments);
      if (code != 0) {
        System.exit(code);
      }
    }
    return out.toString();
  }

  private static boolean hasStringsToWrap(String file) {
    try {
      return Files.readString(Path.of(file))
          .lines()
          .anyMatch(line -> line.length() > COLUMNS || line.contains("\"\"\""));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
