import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.Node;

/**
 * Compares what Maven has fetched with the SHA-256 sums in build/checksums.txt: all dependencies
 * and plugins, their jars and poms, for x86-64 and arm64.
 *
 * <p>Arguments: "check" and the folder of Maven's local repository; files that are not there yet
 * are checked by the build that finds them. "write" adds what is in the folder to the list; give
 * one that has served nothing but this project, as everything in it is taken for right.
 */
final class Checksums {

  private static final Path LIST = Path.of("build", "checksums.txt");

  /** What was found right before. A file that is changed since has another time of change. */
  private static final Path SEEN = Path.of("build", "target", "checksums.seen");

  /**
   * What only the profiles cuda and api fetch: hundreds of megabytes, and a plugin without parent.
   */
  private static final List<String> NOT_LISTED =
      List.of("org/bytedeco/mkl/", "com/github/siom79/japicmp/");

  private static final String OWN = "dev/flotilla/";

  public static void main(String[] arguments) throws Exception {
    Path repository = Path.of(arguments[1]);
    SortedMap<String, String> known = read();
    if (arguments[0].equals("write")) {
      write(repository, known);
      return;
    }
    var problems = new ArrayList<>(changed(repository, known));
    problems.addAll(missing(known));
    if (!problems.isEmpty()) {
      problems.forEach(System.err::println);
      System.exit(1);
    }
  }

  private static SortedMap<String, String> read() throws IOException {
    var sums = new TreeMap<String, String>();
    if (Files.exists(LIST)) {
      for (String line : Files.readAllLines(LIST)) {
        if (!line.startsWith("#")) {
          sums.put(line.substring(66), line.substring(0, 64));
        }
      }
    }
    return sums;
  }

  private static void write(Path repository, SortedMap<String, String> known) throws IOException {
    try (Stream<Path> files = Files.walk(repository)) {
      files
          .filter(file -> file.toString().matches(".*\\.(jar|pom)"))
          .map(file -> repository.relativize(file).toString())
          .filter(name -> !name.startsWith(OWN) && !name.contains("SNAPSHOT"))
          .forEach(name -> known.put(name, sum(repository.resolve(name))));
    }
    String lines =
        known.entrySet().stream()
            .map(it -> it.getValue() + "  " + it.getKey() + "\n")
            .collect(Collectors.joining());
    Files.writeString(LIST, lines);
  }

  private static List<String> changed(Path repository, Map<String, String> known)
      throws IOException {
    Set<String> seen = Files.exists(SEEN) ? Set.copyOf(Files.readAllLines(SEEN)) : Set.of();
    List<String> present =
        known.keySet().stream().filter(name -> Files.exists(repository.resolve(name))).toList();
    Set<String> changed =
        present.parallelStream()
            .filter(name -> !seen.contains(mark(repository, name, known)))
            .filter(name -> !sum(repository.resolve(name)).equals(known.get(name)))
            .collect(Collectors.toCollection(TreeSet::new));
    Files.createDirectories(SEEN.getParent());
    Files.write(
        SEEN,
        present.stream()
            .filter(name -> !changed.contains(name))
            .map(name -> mark(repository, name, known))
            .toList());
    return changed.stream()
        .map(
            name ->
                ("%s is not the file whose SHA-256 is in %s: delete it, so that it is fetched"
                        + " again, and find out who has changed it")
                    .formatted(repository.resolve(name), LIST))
        .toList();
  }

  /** Returns which file it is, and when it was changed last, which no program can pretend. */
  private static String mark(Path repository, String name, Map<String, String> known) {
    try {
      var file = Files.readAttributes(repository.resolve(name), "unix:ino,size,ctime");
      return "%s %s %s %s %s"
          .formatted(known.get(name), file.get("ino"), file.get("size"), file.get("ctime"), name);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String sum(Path file) {
    try (var in = Files.newInputStream(file)) {
      var digest = MessageDigest.getInstance("SHA-256");
      var buffer = new byte[1 << 16];
      for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        digest.update(buffer, 0, count);
      }
      return HexFormat.of().formatHex(digest.digest());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JVM knows SHA-256", e);
    }
  }

  /** Returns what the poms name and the list does not know; it must not grow old unnoticed. */
  private static List<String> missing(SortedMap<String, String> known) throws Exception {
    var problems = new ArrayList<String>();
    Map<String, String> properties = new HashMap<>();
    for (Path pom : poms()) {
      Element project =
          DocumentBuilderFactory.newDefaultInstance()
              .newDocumentBuilder()
              .parse(pom.toFile())
              .getDocumentElement();
      children(project, "properties")
          .flatMap(it -> children(it, "*"))
          .forEach(it -> properties.putIfAbsent(it.getTagName(), it.getTextContent().strip()));
      for (String tag : List.of("dependency", "plugin", "path", "artifactItem")) {
        var found = project.getElementsByTagName(tag);
        for (int i = 0; i < found.getLength(); i++) {
          String folder = folder((Element) found.item(i), properties);
          if (!folder.isEmpty() && !known.tailMap(folder).headMap(folder + "~").isEmpty()) {
            continue;
          }
          if (!folder.isEmpty()
              && !folder.startsWith(OWN)
              && NOT_LISTED.stream().noneMatch(folder::startsWith)) {
            problems.add(
                "%s: %s is not in %s; see CONTRIBUTING.md, Dependencies"
                    .formatted(pom, folder, LIST));
          }
        }
      }
    }
    return problems.stream().distinct().toList();
  }

  private static List<Path> poms() throws IOException {
    try (Stream<Path> folders = Files.list(Path.of(""))) {
      return Stream.concat(
              Stream.of(Path.of("pom.xml")),
              folders.sorted().map(folder -> folder.resolve("pom.xml")))
          .filter(Files::exists)
          .toList();
    }
  }

  private static Stream<Element> children(Element parent, String tag) {
    var all = parent.getChildNodes();
    var found = new ArrayList<Element>();
    for (int i = 0; i < all.getLength(); i++) {
      Node child = all.item(i);
      if (child instanceof Element element
          && (tag.equals("*") || element.getTagName().equals(tag))) {
        found.add(element);
      }
    }
    return found.stream();
  }

  /** Returns where a repository keeps an artifact; empty if its version is said elsewhere. */
  private static String folder(Element artifact, Map<String, String> properties) {
    String version = resolved(text(artifact, "version"), properties);
    if (version.isEmpty() || version.contains("${")) {
      return "";
    }
    String group = text(artifact, "groupId");
    return "%s/%s/%s/"
        .formatted(
            (group.isEmpty() ? "org.apache.maven.plugins" : group).replace('.', '/'),
            text(artifact, "artifactId"),
            version);
  }

  private static String text(Element parent, String tag) {
    return children(parent, tag).map(it -> it.getTextContent().strip()).findFirst().orElse("");
  }

  private static String resolved(String text, Map<String, String> properties) {
    String result = text;
    for (int i = 0; i < 3; i++) {
      for (var property : properties.entrySet()) {
        result = result.replace("${" + property.getKey() + "}", property.getValue());
      }
    }
    return result;
  }
}
