package dev.flotilla.world;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ProgramPathTests {

  @Test
  void aProgramOnTheClassPathIsNamedBehindIt() {
    assertThat(ProgramPath.to(ProgramPathTests.class, "a.jar:b.jar", ""))
        .containsExactly("-cp", "a.jar:b.jar", ProgramPathTests.class.getName());
  }

  @Test
  void aProgramInAModuleIsNamedWithIt() {
    assertThat(ProgramPath.to(String.class, "", "jars"))
        .containsExactly(
            "-p", "jars", "--add-modules", "ALL-MODULE-PATH", "-m", "java.base/java.lang.String");
  }

  @Test
  void aModularProgramKeepsItsClassPath() {
    assertThat(ProgramPath.to(String.class, "old.jar", "jars")).startsWith("-cp", "old.jar", "-p");
  }

  @Test
  void thisJvmsPathsAreTaken() {
    assertThat(ProgramPath.to(ProgramPathTests.class))
        .contains(System.getProperty("java.class.path"));
  }
}
