import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;

/**
 * A Java runtime with the JDK's modules that Flotilla uses, and no other.
 *
 * @param jars the jars that it must be able to run
 */
record RuntimeImage(List<Path> jars) {

  /** What Flotilla's own modules require; a build whose modules require others is refused. */
  private static final Set<String> NAMED =
      Set.of(
          "java.base",
          "java.desktop", // images of folders are decoded by ImageIO
          "java.management",
          "jdk.httpserver",
          "jdk.jfr",
          "jdk.management");

  /** What libraries name, or what is found at run time alone. */
  private static final Set<String> FOUND =
      Set.of(
          "java.logging", // JNA
          "java.xml",
          "jdk.charsets", // tables in other encodings
          "jdk.jcmd", // jcmd, for recordings of a run that is under way
          "jdk.unsupported", // signals, JavaCPP, Gson
          "jdk.zipfs");

  void link(Path folder) throws IOException {
    requireOnlyNamed();
    run(
        "jlink",
        "--add-modules",
        String.join(",", modules()),
        "--no-header-files",
        "--no-man-pages",
        "--strip-java-debug-attributes",
        "--generate-cds-archive",
        // No files of performance counters in the folder for temporary files.
        "--add-options=-XX:-UsePerfData",
        "--output",
        folder.toString());
  }

  private void requireOnlyNamed() throws IOException {
    var required =
        jars.stream()
            .filter(jar -> jar.getFileName().toString().startsWith("flotilla-"))
            .flatMap(jar -> ModuleFinder.of(jar).findAll().stream())
            .flatMap(module -> module.descriptor().requires().stream())
            .map(ModuleDescriptor.Requires::name)
            .filter(name -> name.matches("(java|jdk)[.].*"))
            .collect(Collectors.toCollection(TreeSet::new));
    required.removeAll(modules());
    if (!required.isEmpty()) {
      throw new IOException("add to the modules in build/dist/RuntimeImage.java: " + required);
    }
  }

  private static Set<String> modules() {
    Set<String> modules = new TreeSet<>(NAMED);
    modules.addAll(FOUND);
    return modules;
  }

  private static String run(String tool, String... arguments) throws IOException {
    var output = new StringWriter();
    var writer = new PrintWriter(output);
    int code = ToolProvider.findFirst(tool).orElseThrow().run(writer, writer, arguments);
    if (code != 0) {
      throw new IOException(tool + " ended with " + code + ": " + output);
    }
    return output.toString().strip();
  }
}
