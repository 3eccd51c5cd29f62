package dev.flotilla.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.config.Catalogue;
import dev.flotilla.config.Eval;
import dev.flotilla.config.RunConfig;
import dev.flotilla.data.DataSource;
import dev.flotilla.model.Model;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.optim.Schedule;
import dev.flotilla.settings.Setting;
import dev.flotilla.step.Phase;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.clip.ClipByNorm;
import dev.flotilla.world.ExitCodes;
import java.io.IOException;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Keeps the documents true where a program can tell. */
@Tag("quick")
final class DocumentsTests {

  private static final Path ROOT = Path.of("..");
  private static final Path README = ROOT.resolve("README.md");
  private static final Path RECIPES = ROOT.resolve("docs/recipe.md");
  private static final Path ERRORS = ROOT.resolve("docs/errors.md");
  private static final Path GLOSSARY = ROOT.resolve("docs/glossary.md");
  private static final Path POM = ROOT.resolve("pom.xml");
  private static final Path TECHNIQUES = ROOT.resolve("docs/techniques");
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)#]*)(#[^)]*)?\\)");

  static Stream<Path> documents() throws IOException {
    try (var top = Files.list(ROOT);
        var arm64 = Files.list(ROOT.resolve("arm64"));
        var docs = Files.walk(ROOT.resolve("docs"))) {
      return Stream.of(top, arm64, docs)
          .flatMap(files -> files)
          .filter(file -> file.toString().endsWith(".md"))
          .toList()
          .stream();
    }
  }

  @ParameterizedTest
  @MethodSource("documents")
  void linksLeadSomewhere(Path document) throws IOException {
    var missing =
        LINK.matcher(Files.readString(document))
            .results()
            .map(link -> link.group(1))
            .filter(target -> !target.isEmpty() && !target.startsWith("http"))
            .filter(target -> Files.notExists(document.resolveSibling(target)))
            .toList();
    assertThat(missing).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("documents")
  void linksToHeadingsDoToo(Path document) throws IOException {
    for (var link : LINK.matcher(Files.readString(document)).results().toList()) {
      var target = link.group(1).isEmpty() ? document : document.resolveSibling(link.group(1));
      if (link.group(2) != null && target.toString().endsWith(".md")) {
        assertThat(anchors(target)).as(link.group()).contains(link.group(2));
      }
    }
  }

  /** The way GitHub makes them of headings. */
  private static List<String> anchors(Path document) throws IOException {
    var text = Files.readString(document).replaceAll("(?ms)^```.*?^```", "");
    return Pattern.compile("(?m)^#+ (.*)$")
        .matcher(text)
        .results()
        .map(it -> it.group(1).replaceAll("\\]\\([^)]*\\)", "").toLowerCase(Locale.ROOT))
        .map(it -> "#" + it.replaceAll("[^\\p{L}\\p{N}\\s_-]", "").strip().replace(' ', '-'))
        .toList();
  }

  @Test
  void everyTestThatTheSecurityPageNamesExists() throws IOException {
    var named =
        Pattern.compile("`(\\w+Tests)`")
            .matcher(Files.readString(ROOT.resolve("SECURITY.md")))
            .results()
            .map(it -> it.group(1) + ".java")
            .collect(Collectors.toSet());
    try (var files = Files.walk(ROOT, 10)) {
      var known =
          files
              .filter(it -> it.toString().contains("src/test/java"))
              .map(it -> String.valueOf(it.getFileName()))
              .collect(Collectors.toSet());
      assertThat(known).containsAll(named);
    }
    assertThat(named).hasSizeGreaterThan(10);
  }

  @Test
  void everyDocumentIsReachedFromTheReadme() throws IOException {
    var reached = new LinkedHashSet<Path>();
    var next = new ArrayDeque<Path>(List.of(README));
    while (!next.isEmpty()) {
      var document = next.remove();
      if (reached.add(document.normalize())) {
        LINK.matcher(Files.readString(document))
            .results()
            .map(link -> document.resolveSibling(link.group(1)))
            .filter(target -> target.toString().endsWith(".md") && Files.exists(target))
            .forEach(next::add);
      }
    }
    assertThat(reached).containsAll(documents().map(Path::normalize).toList());
  }

  static Stream<Path> techniquePages() throws IOException {
    try (var pages = Files.list(TECHNIQUES)) {
      return pages.toList().stream();
    }
  }

  @ParameterizedTest
  @MethodSource("techniquePages")
  void aTechniquesPageBeginsWithWhenToUseItAndARecipe(Path page) throws IOException {
    var text = Files.readString(page);
    int first = text.indexOf("\n## ");
    assertThat(text.substring(first)).startsWith("\n## When to use it\n");
    assertThat(text.substring(first, text.indexOf("\n## ", first + 1)))
        .containsPattern("(?m)^(\\w+: .*|  \\w+: .*)$")
        .contains("```");
  }

  @Test
  void readmeHasTheCoordinatesOfTheArtifacts() throws IOException {
    var pom = Files.readString(POM);
    var readme = block(README, "xml");
    for (var element : List.of("groupId", "version")) {
      assertThat(readme).contains(element(pom, element));
    }
    var zoo = Files.readString(ROOT.resolve("zoo/pom.xml"));
    zoo = zoo.substring(zoo.indexOf("</parent>"));
    assertThat(readme).contains(element(zoo, "artifactId"));
  }

  private static String element(String pom, String name) {
    int start = pom.indexOf("<" + name + ">");
    return pom.substring(start, pom.indexOf(">", pom.indexOf("</" + name, start)) + 1);
  }

  @ParameterizedTest
  @MethodSource("documents")
  void noConflictIsLeft(Path document) throws IOException {
    assertThat(Files.readAllLines(document))
        .noneMatch(line -> line.startsWith("<<<<<<< ") || line.startsWith(">>>>>>> "));
  }

  @Test
  void readmeFitsOnAScreenAndShowsTheBaseline() throws IOException {
    assertThat(Files.readAllLines(README)).hasSizeLessThanOrEqualTo(80);
    var source = Path.of("src/main/java/dev/flotilla/examples/Baseline.java");
    assertThat(lines(Files.readString(source))).containsSubsequence(lines(block(README, "java")));
  }

  @Test
  void readmeNamesEveryTechnique() throws IOException {
    assertThat(Files.readString(README))
        .contains(
            Catalogue.installed().types(Strategy.class).keySet().stream()
                .map(name -> "`strategy." + name + "`")
                .toList());
  }

  @Test
  void everyNameAndKeyOfARecipeIsDescribed() throws IOException {
    var catalogue = Catalogue.installed();
    var kinds =
        List.of(Model.class, DataSource.class, Optimizer.class, Schedule.class, Strategy.class);
    var names = kinds.stream().flatMap(kind -> catalogue.types(kind).keySet().stream());
    var records = kinds.stream().flatMap(kind -> catalogue.types(kind).values().stream());
    var keys =
        Stream.concat(records, Stream.of(RunConfig.class, Eval.class, ClipByNorm.class))
            .flatMap(DocumentsTests::keys);
    var text = Files.readString(RECIPES);
    assertThat(Stream.concat(names, keys).distinct())
        .isNotEmpty()
        .allSatisfy(word -> assertThat(text).containsPattern("[`{]" + word + "[`:]"));
  }

  @Test
  void theRecipeOfTheDocumentIsTheExample() throws IOException {
    assertThat(block(RECIPES, "yaml")).isEqualTo(Files.readString(Path.of("recipe.yaml")));
  }

  @Test
  void everyExitCodeIsDescribed() throws IOException {
    var text = Files.readString(ERRORS);
    for (var field : ExitCodes.class.getFields()) {
      if (Modifier.isStatic(field.getModifiers())) {
        assertThat(text).contains("| `" + field.getName() + "` |");
      }
    }
    assertThat(text).contains("| %d | `PEER_FAILED` |".formatted(ExitCodes.PEER_FAILED));
  }

  @Test
  void theGlossaryIsInAlphabeticalOrderAndNamesEveryPhase() throws IOException {
    var text = Files.readString(GLOSSARY);
    var words =
        text.lines()
            .filter(line -> line.startsWith("| "))
            .skip(2)
            .map(line -> line.split("\\|", -1)[1]);
    assertThat(words).hasSizeGreaterThan(20).isSorted();
    var phases = Stream.of(Phase.values()).map(Phase::name).collect(Collectors.joining(", "));
    assertThat(text).contains("| phase | one of " + phases + ", in this order");
  }

  private static Stream<String> keys(Class<?> settings) {
    return Stream.of(settings.getRecordComponents())
        .filter(component -> component.isAnnotationPresent(Setting.class))
        .map(component -> component.getName().replaceAll("([A-Z])", "_$1"))
        .map(name -> name.toLowerCase(Locale.ROOT));
  }

  private static List<String> lines(String text) {
    return text.lines().map(String::strip).filter(line -> !line.isEmpty()).toList();
  }

  private static String block(Path document, String language) throws IOException {
    var text = Files.readString(document);
    int start = text.indexOf("```" + language + "\n") + language.length() + 4;
    return text.substring(start, text.indexOf("```", start));
  }
}
