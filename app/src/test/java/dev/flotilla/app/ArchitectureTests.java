package dev.flotilla.app;

import static com.tngtech.archunit.core.domain.JavaAccess.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import dev.flotilla.config.Catalogue;
import dev.flotilla.config.ConfiguredRun;
import dev.flotilla.exchange.Exchange;
import dev.flotilla.launch.RankMain;
import dev.flotilla.step.MicroSteps;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.clip.ClipByNorm;
import dev.flotilla.zoo.model.LeNet5;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every rule holds for the product, and fails for a sample that breaks it. */
class ArchitectureTests {

  private static final JavaClasses PRODUCT =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("dev.flotilla");

  private static final JavaClasses SAMPLE =
      new ClassFileImporter().importPackages("dev.flotilla.app.wrong");

  private static final List<Named> RULES =
      List.of(
          new Named("imports point one way", ArchitectureRules::importsPointOneWay),
          new Named("packages are free of cycles", ArchitectureRules::packagesAreFreeOfCycles),
          new Named("techniques are apart", ArchitectureRules::techniquesDoNotKnowEachOther),
          new Named("no serialised object", it -> it.nobodyUses("java.io.ObjectInputStream")),
          new Named("no java.util.Date", it -> it.nobodyUses("java.util.Date")),
          new Named("only entry points exit", ArchitectureRules::onlyEntryPointsEndTheProcess),
          new Named("packages are null-marked", ArchitectureRules::everyPackageIsNullMarked));

  private record Named(String name, Function<ArchitectureRules, ArchRule> rule) {
    ArchRule under(String root) {
      return rule.apply(new ArchitectureRules(root));
    }
  }

  @TestFactory
  Stream<DynamicTest> theProductKeepsEveryRule() {
    return RULES.stream()
        .map(it -> dynamicTest(it.name(), () -> it.under("dev.flotilla").check(PRODUCT)));
  }

  @TestFactory
  Stream<DynamicTest> theSampleBreaksEveryRule() {
    return RULES.stream()
        .map(it -> dynamicTest(it.name(), () -> assertBroken(it.under("dev.flotilla.app.wrong"))));
  }

  private static void assertBroken(ArchRule rule) {
    assertThat(rule.evaluate(SAMPLE).hasViolation()).isTrue();
  }

  @Test
  void theLauncherUsesOnlyTheJdk() {
    new ArchitectureRules("dev.flotilla")
        .usesOnlyTheJdk("launch", "control", "world", "text")
        .check(PRODUCT);
    assertBroken(new ArchitectureRules("dev.flotilla.app.wrong").usesOnlyTheJdk("train"));
  }

  @Test
  void nobodyDecidesByTheNameOfATechnique() {
    Map<String, String> packages = new HashMap<>();
    Catalogue.installed()
        .types(Strategy.class)
        .forEach((name, type) -> packages.put(name, type.getPackageName()));
    // Words of the language too: the metrics of an exchange have this name.
    packages.keySet().removeAll(Set.of("exchange", "clip"));
    assertThat(packages).containsKeys("dgc", "recompute", "localsgd");
    new ArchitectureRules("dev.flotilla").nobodyDecidesByATechniquesName(packages).check(PRODUCT);
    assertBroken(
        new ArchitectureRules("dev.flotilla.app.wrong").nobodyDecidesByATechniquesName(packages));
  }

  /** Which settings would help is theirs to say: see {@link dev.flotilla.settings.Remedy}. */
  @Test
  void nobodyWritesAboutAnotherTechnique() {
    var packages = new HashMap<String, String>();
    new Catalogue.Names()
        .settings()
        .forEach((name, type) -> packages.put(name, type.getPackageName()));
    assertThat(packages).containsKeys("gradient_merge", "recompute", "clip", "batch_norm");
    new ArchitectureRules("dev.flotilla").nobodyWritesAboutATechnique(packages).check(PRODUCT);
    assertBroken(
        new ArchitectureRules("dev.flotilla.app.wrong").nobodyWritesAboutATechnique(packages));
  }

  /** A schema, {@code models} and {@code data} print these texts whatever else is installed. */
  @Test
  void noSettingIsDescribedByAnotherTechnique() {
    var packages = new HashMap<String, String>();
    new Catalogue.Names()
        .settings()
        .forEach((name, type) -> packages.put(name, type.getPackageName()));
    new ArchitectureRules("dev.flotilla").noSettingIsAboutAnotherTechnique(packages).check(PRODUCT);
    assertBroken(
        new ArchitectureRules("dev.flotilla.app.wrong").noSettingIsAboutAnotherTechnique(packages));
    assertThat(ClassTexts.settings(PRODUCT.get(ClipByNorm.class)))
        .containsExactly("largest norm of the whole gradient, > 0");
  }

  /** Small enough to be read: what grows beyond that does more than one thing. */
  @Test
  void packagesOfTheStepStaySmall() {
    for (var name : List.of("pass", "exchange", "step")) {
      var types =
          PRODUCT.stream()
              .filter(type -> type.getPackageName().equals("dev.flotilla." + name))
              .filter(JavaClass::isTopLevelClass)
              .filter(type -> !type.getSimpleName().equals("package-info"))
              .toList();
      assertThat(types).as(name).hasSizeBetween(5, 35);
    }
  }

  /** What an exchange must do, besides state, metrics and its end. */
  @Test
  void anExchangeHasFewMethods() {
    assertThat(Exchange.class.getMethods())
        .filteredOn(method -> !Modifier.isStatic(method.getModifiers()))
        .extracting(Method::getName)
        .filteredOn(name -> !Set.of("remember", "metrics", "close").contains(name))
        .hasSizeLessThanOrEqualTo(5);
  }

  /** C4: clocks of hosts differ and jump; a dump of threads alone says what time it is. */
  @Test
  void noWaitDependsOnTheTimeOfDay() {
    noClasses()
        .that()
        .resideInAnyPackage(
            "dev.flotilla.control..", "dev.flotilla.launch.tls..", "dev.flotilla.collective..")
        .and()
        .doNotHaveSimpleName("ThreadDump")
        .should()
        .callMethod(System.class, "currentTimeMillis")
        .orShould()
        .callMethod(Instant.class, "now")
        .check(PRODUCT);
  }

  /** What came first on a host, either; files say what time it was for people. */
  @Test
  void noLauncherComparesTimesOfDay() {
    noClasses()
        .that()
        .resideInAnyPackage("dev.flotilla.launch")
        .and()
        .haveNameNotMatching(".*[.](HostClock|ErrorFile|MeetingFolder)")
        .should()
        .callMethod(System.class, "currentTimeMillis")
        .orShould()
        .callMethod(Instant.class, "now")
        .check(PRODUCT);
  }

  /** J9: nothing that is read becomes code; ObjectInputStream is among the rules above. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "java.beans.XMLDecoder",
        "javax.script.ScriptEngineManager",
        "javax.script.ScriptEngine"
      })
  void nobodyRunsWhatIsRead(String type) {
    new ArchitectureRules("dev.flotilla").nobodyUses(type).check(PRODUCT);
  }

  /** J9: neither pickles nor programs are read by libtorch. */
  @Test
  void libtorchLoadsNothing() {
    noClasses()
        .should()
        .callMethodWhere(
            target(nameMatching("load|jit_load|pickle_load|import_ir_module"))
                .and(target(owner(resideInAPackage("org.bytedeco.pytorch..")))))
        .check(PRODUCT);
  }

  /** Otherwise the rules would hold for nothing. */
  @Test
  void theProductIsWhatTheRulesSee() {
    for (var type : new Class<?>[] {Main.class, MicroSteps.class, RankMain.class, LeNet5.class}) {
      assertThat(PRODUCT.contain(type)).as(type.getName()).isTrue();
    }
    assertThat(packagesUsedBy(ConfiguredRun.class)).contains("dev.flotilla.train");
    assertThat(packagesUsedBy(ClipByNorm.class))
        .contains("dev.flotilla.strategy", "dev.flotilla.step");
    assertThat(packagesUsedBy(MicroSteps.class)).contains("dev.flotilla.arena");
    assertThat(PRODUCT).noneMatch(type -> type.getPackageName().contains(".wrong"));
  }

  private static Stream<String> packagesUsedBy(Class<?> type) {
    return PRODUCT.get(type).getDirectDependenciesFromSelf().stream()
        .map(dependency -> dependency.getTargetClass())
        .map(JavaClass::getPackageName);
  }
}
