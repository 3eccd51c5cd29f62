package dev.flotilla.natives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ElfFileTests {

  @TempDir Path folder;

  @Test
  void tellsWhatALibraryNeedsAndGives() throws IOException {
    var file = folder.resolve("lib.so");
    var needed = List.of("libcupti.so.13", "libc.so.6");
    Files.write(file, new TinyElf().needs(needed).defines(List.of("JNI_OnLoad")).bytes());
    assertThat(ElfFile.read(file).needed()).isEqualTo(needed);
    assertThat(ElfFile.read(file).definedSymbols()).containsExactly("JNI_OnLoad");
  }

  @Test
  void readsTheLibrariesOfThisJava() throws IOException {
    var file = Path.of(System.getProperty("java.home"), "lib", "libzip.so");
    assertThat(ElfFile.read(file).needed()).contains("libjava.so");
    assertThat(ElfFile.read(file).definedSymbols())
        .contains("Java_java_util_zip_Inflater_init")
        .doesNotContain("malloc");
  }

  @Test
  void refusesWhatIsNoLibrary() throws IOException {
    var file = Files.writeString(folder.resolve("text"), "#!/bin/sh\n".repeat(20));
    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> ElfFile.read(file))
        .withMessageEndingWith("text is not a shared library");
  }
}
