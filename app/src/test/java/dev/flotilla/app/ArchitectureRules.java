package dev.flotilla.app;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;

/**
 * The rules of the architecture, for all packages under a root, so that they can be tried on
 * samples that break them.
 */
record ArchitectureRules(String root) {

  /** What each layer may use; nothing may use what is not listed for it. */
  ArchRule importsPointOneWay() {
    return layeredArchitecture()
        .consideringOnlyDependenciesInLayers()
        .withOptionalLayers(true)
        .layer("app")
        .definedBy(root + ".app..")
        .layer("board")
        .definedBy(root + ".board..")
        .layer("zoo")
        .definedBy(root + ".zoo..")
        .layer("predict")
        .definedBy(root + ".predict..")
        .layer("config")
        .definedBy(root + ".config..")
        .layer("verify")
        .definedBy(root + ".verify..")
        .layer("booster")
        .definedBy(root + ".booster..")
        .layer("train")
        .definedBy(root + ".train..")
        .layer("techniques")
        .definedBy(root + ".strategy.*..")
        .layer("strategy")
        .definedBy(root + ".strategy")
        .layer("step")
        .definedBy(root + ".step..")
        .layer("pass")
        .definedBy(root + ".pass..")
        .layer("exchange")
        .definedBy(root + ".exchange..")
        .layer("wire")
        .definedBy(root + ".wire..")
        .layer("parts")
        .definedBy(
            packages("model", "data", "metric", "optim", "checkpoint", "collective", "arena"))
        .layer("ground")
        .definedBy(
            packages(
                "report",
                "natives",
                "memory",
                "settings",
                "text",
                "world",
                "control",
                "pickle",
                "onnx"))
        .layer("launch")
        .definedBy(root + ".launch..")
        .whereLayer("app")
        .mayNotBeAccessedByAnyLayer()
        .whereLayer("board")
        .mayOnlyBeAccessedByLayers("app", "train")
        .whereLayer("board")
        .mayOnlyAccessLayers("ground")
        .whereLayer("zoo")
        .mayOnlyBeAccessedByLayers("app")
        .whereLayer("predict")
        .mayOnlyBeAccessedByLayers("app")
        .whereLayer("config")
        .mayOnlyBeAccessedByLayers("app", "zoo", "predict")
        .whereLayer("verify")
        .mayOnlyBeAccessedByLayers("app", "config")
        .whereLayer("booster")
        .mayNotBeAccessedByAnyLayer()
        .whereLayer("train")
        .mayOnlyBeAccessedByLayers("app", "config", "verify", "booster")
        .whereLayer("techniques")
        .mayOnlyBeAccessedByLayers("app", "config", "booster")
        .whereLayer("strategy")
        .mayOnlyBeAccessedByLayers("app", "config", "verify", "booster", "train", "techniques")
        .whereLayer("step")
        .mayOnlyBeAccessedByLayers(
            "app", "config", "verify", "booster", "train", "techniques", "strategy")
        .whereLayer("pass")
        .mayOnlyAccessLayers("parts", "ground")
        .whereLayer("exchange")
        .mayOnlyAccessLayers("wire", "parts", "ground")
        .whereLayer("wire")
        .mayOnlyAccessLayers("parts", "ground")
        .whereLayer("ground")
        .mayNotAccessAnyLayer()
        .whereLayer("parts")
        .mayOnlyAccessLayers("ground")
        .whereLayer("launch")
        .mayOnlyAccessLayers("ground");
  }

  private String[] packages(String... names) {
    return Arrays.stream(names).map(name -> root + "." + name + "..").toArray(String[]::new);
  }

  ArchRule packagesAreFreeOfCycles() {
    return slices().matching(root + ".(*)..").should().beFreeOfCycles();
  }

  ArchRule techniquesDoNotKnowEachOther() {
    return slices().matching(root + ".strategy.(*)..").should().notDependOnEachOther();
  }

  /** The launcher and the world run where no other jar is. */
  ArchRule usesOnlyTheJdk(String... packages) {
    var allowed =
        List.of("java..", "javax.crypto..", "javax.net.ssl..", "org.jspecify.annotations..");
    return classes()
        .that()
        .resideInAnyPackage(packages(packages))
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(
            Stream.concat(allowed.stream(), Arrays.stream(packages(packages)))
                .toArray(String[]::new));
  }

  ArchRule nobodyUses(String className) {
    return noClasses().should().dependOnClassesThat().haveFullyQualifiedName(className);
  }

  ArchRule onlyEntryPointsEndTheProcess() {
    return noClasses()
        .that()
        .resideInAPackage(root + "..")
        .and()
        .doNotHaveFullyQualifiedName(root + ".app.Main")
        .and()
        .doNotHaveFullyQualifiedName(root + ".launch.RankMain")
        .should()
        .callMethod(System.class, "exit", int.class);
  }

  ArchRule everyPackageIsNullMarked() {
    return classes().that().resideInAPackage(root + "..").should(new BeInANullMarkedPackage());
  }

  /**
   * Nobody compares with a technique's name: what others must know of it are its properties. A name
   * inside a sentence for people is none, and a technique may name itself.
   */
  ArchRule nobodyDecidesByATechniquesName(Map<String, String> packagesByName) {
    return nobodyElseHas(
        "name no technique but itself", packagesByName, String::equals, ClassTexts::constants);
  }

  /**
   * No sentence for people names a technique's settings but its own: the catalogue knows them. A
   * name that is a word of the language is one only where a key or a value follows.
   */
  ArchRule nobodyWritesAboutATechnique(Map<String, String> packagesByName) {
    return nobodyElseHas(
        "write about no technique but itself",
        packagesByName,
        ArchitectureRules::isWrittenAbout,
        ClassTexts::constants);
  }

  /** The same for what {@code @Setting} says of a key, which schema and commands print. */
  ArchRule noSettingIsAboutAnotherTechnique(Map<String, String> packagesByName) {
    return nobodyElseHas(
        "describe settings without naming another technique",
        packagesByName,
        ArchitectureRules::isWrittenAbout,
        ClassTexts::settings);
  }

  private static boolean isWrittenAbout(String text, String name) {
    boolean isWord = Set.of("recompute", "clip", "exchange").contains(name);
    return text.contains(" ")
        && Pattern.compile("(?<![\\w.])" + name + (isWord ? "([.]|: ?)[{a-z]" : "\\b"))
            .matcher(text)
            .find();
  }

  private ArchRule nobodyElseHas(
      String what,
      Map<String, String> packagesByName,
      BiPredicate<String, String> isNamedIn,
      Function<JavaClass, Set<String>> texts) {
    return classes()
        .that()
        .resideInAPackage(root + "..")
        .and()
        .resideOutsideOfPackages(packages("config", "app", "bench", "testkit", "examples"))
        .should(new NameNoTechniqueButItself(what, packagesByName, isNamedIn, texts));
  }

  private static final class NameNoTechniqueButItself extends ArchCondition<JavaClass> {

    private final Map<String, String> packagesByName;
    private final BiPredicate<String, String> isNamedIn;
    private final Function<JavaClass, Set<String>> textsOf;

    NameNoTechniqueButItself(
        String what,
        Map<String, String> packagesByName,
        BiPredicate<String, String> isNamedIn,
        Function<JavaClass, Set<String>> textsOf) {
      super(what);
      this.packagesByName = packagesByName;
      this.isNamedIn = isNamedIn;
      this.textsOf = textsOf;
    }

    @Override
    public void check(JavaClass type, ConditionEvents events) {
      var texts = textsOf.apply(type);
      packagesByName.forEach(
          (name, home) -> {
            boolean names =
                !type.getPackageName().equals(home)
                    && texts.stream().anyMatch(text -> isNamedIn.test(text, name));
            events.add(new SimpleConditionEvent(type, !names, type.getName() + " names " + name));
          });
    }
  }

  private static final class BeInANullMarkedPackage extends ArchCondition<JavaClass> {

    BeInANullMarkedPackage() {
      super("be in a package that is @NullMarked");
    }

    @Override
    public void check(JavaClass type, ConditionEvents events) {
      boolean marked = type.getPackage().isAnnotatedWith(NullMarked.class);
      events.add(new SimpleConditionEvent(type, marked, type.getPackageName()));
    }
  }
}
