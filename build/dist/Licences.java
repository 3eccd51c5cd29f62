import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Locale;
import java.util.StringJoiner;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The licences of what the distribution holds: a list of all libraries, and their texts.
 *
 * @param source the folder with the list of libraries and the texts that jars do not hold
 * @param root the folder of the distribution
 */
record Licences(Path source, Path root) {

  private static final Pattern TEXT =
      Pattern.compile("META-INF/[^/]*(licen[sc]e|notice|copying)[^/]*", Pattern.CASE_INSENSITIVE);

  /** A line of the list; the last column may be absent. */
  private record Library(String prefix, String licence, String owner, List<String> texts) {
    static Library parse(String line) {
      var columns = line.strip().split("\\s{2,}");
      return new Library(
          columns[0],
          columns[1],
          columns[2],
          columns.length > 3 ? List.of(columns[3].split(" ")) : List.of());
    }
  }

  void write() throws IOException {
    var libraries =
        Files.readAllLines(source.resolve("libraries.txt")).stream()
            .filter(line -> !line.isBlank() && !line.startsWith("#"))
            .map(Library::parse)
            .toList();
    Files.createDirectories(folder());
    var list = new StringJoiner("\n", "", "\n");
    list.add("What this folder holds besides Flotilla, whose it is and under which licence.");
    list.add("The text of Apache-2.0 is LICENSE in the folder above.");
    list.add("");
    for (var name : contents()) {
      if (!name.startsWith("flotilla-")) {
        list.add(describe(name, find(libraries, name)));
      }
    }
    list.add("runtime/: OpenJDK: GPL-2.0 with Classpath exception and others: runtime/legal");
    Files.writeString(folder().resolve("THIRD-PARTY.txt"), list.toString());
  }

  private Path folder() {
    return root.resolve("licences");
  }

  private List<String> contents() throws IOException {
    try (var jars = Files.list(root.resolve("lib"))) {
      var names = jars.map(jar -> jar.getFileName().toString()).sorted();
      return Files.exists(root.resolve("libtorch"))
          ? Stream.concat(names, Stream.of("libtorch/")).toList()
          : names.toList();
    }
  }

  private Library find(List<Library> libraries, String name) throws IOException {
    return libraries.stream()
        .filter(library -> name.startsWith(library.prefix()))
        .findFirst()
        .orElseThrow(
            () -> new IOException(name + " has no line in " + source.resolve("libraries.txt")));
  }

  private String describe(String name, Library library) throws IOException {
    var texts = new StringJoiner(", ");
    for (var text : library.texts()) {
      Files.copy(source.resolve(text), folder().resolve(text), StandardCopyOption.REPLACE_EXISTING);
      texts.add("licences/" + text);
    }
    if (name.endsWith(".jar")) {
      copyTexts(name, texts);
    }
    return "%s: %s: %s%s"
        .formatted(
            name, library.owner(), library.licence(), texts.length() == 0 ? "" : ": " + texts);
  }

  private void copyTexts(String name, StringJoiner texts) throws IOException {
    try (var jar = new JarFile(root.resolve("lib").resolve(name).toFile())) {
      for (var entry : jar.stream().toList()) {
        if (TEXT.matcher(entry.getName()).matches() && !entry.isDirectory()) {
          var to = folder().resolve(name.replaceFirst("\\.jar$", ""));
          Files.createDirectories(to);
          var file = entry.getName().substring("META-INF/".length()).toLowerCase(Locale.ROOT);
          try (InputStream content = jar.getInputStream(entry)) {
            Files.copy(content, to.resolve(file), StandardCopyOption.REPLACE_EXISTING);
          }
          texts.add("licences/" + to.getFileName() + "/" + file);
        }
      }
    }
  }
}
