import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import javax.tools.ToolProvider;

/**
 * Runs a class of the project from its source, before anything is built; it and what it uses need
 * nothing but the JDK.
 *
 * <p>Java would run it from its source itself, but then takes the module declaration beside it for
 * part of the program, and asks for what the module requires.
 *
 * <p>Arguments: the source folder, the class, and the arguments of its main.
 */
final class RunAlone {

  public static void main(String[] arguments) throws Exception {
    Path folder = Files.createTempDirectory("flotilla-run-alone");
    try {
      // Everything beside the module declaration, which is no part of this folder.
      String first = arguments[1].substring(0, arguments[1].indexOf('.'));
      Files.createSymbolicLink(
          folder.resolve(first), Path.of(arguments[0], first).toAbsolutePath());
      Path classes = Files.createDirectory(folder.resolve("classes"));
      int result =
          ToolProvider.getSystemJavaCompiler()
              .run(
                  null,
                  null,
                  null,
                  "-proc:none",
                  "-sourcepath",
                  folder.toString(),
                  "-d",
                  classes.toString(),
                  folder.resolve(arguments[1].replace('.', '/') + ".java").toString());
      if (result != 0) {
        throw new IllegalStateException(arguments[1] + " does not compile");
      }
      try (var loader = new URLClassLoader(new URL[] {classes.toUri().toURL()})) {
        loader
            .loadClass(arguments[1])
            .getMethod("main", String[].class)
            .invoke(null, (Object) Arrays.copyOfRange(arguments, 2, arguments.length));
      }
    } finally {
      try (var files = Files.walk(folder)) {
        files.sorted(java.util.Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
      }
    }
  }
}
