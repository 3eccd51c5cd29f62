import com.google.googlejavaformat.java.Main;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Checks, or with "apply" mends, the format of every Java file with google-java-format.
 *
 * <p>Run by the build through the toolchain's java, so that the check does not depend on the Java
 * version that runs Maven.
 */
final class Format {

  public static void main(String[] arguments) throws Exception {
    boolean apply = arguments.length > 0 && arguments[0].equals("apply");
    List<String> options = new ArrayList<>();
    options.addAll(apply ? List.of("--replace") : List.of("--dry-run", "--set-exit-if-changed"));
    try (var files = Files.walk(Path.of(""))) {
      files
          .filter(file -> file.toString().endsWith(".java"))
          .filter(file -> !file.toString().contains("target/"))
          .forEach(file -> options.add(file.toString()));
    }
    var out = new PrintWriter(System.out, true);
    var err = new PrintWriter(System.err, true);
    int code = new Main(out, err, System.in).format(options.toArray(String[]::new));
    if (code != 0) {
      System.err.println(
          "The files above are not formatted; mend with: mvn -pl build validate -Dformat=apply");
      System.exit(code);
    }
  }
}
