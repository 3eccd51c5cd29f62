package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.settings.ConfigException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunNamesTests {

  @TempDir Path folder;

  @Test
  void runsThatStartTogetherGetFoldersOfTheirOwn() {
    List<Path> folders =
        IntStream.range(0, 50)
            .parallel()
            .mapToObj(_ -> RunNames.newFolder(folder.resolve("runs"), "lenet5", true))
            .toList();
    assertThat(folders).doesNotHaveDuplicates().allMatch(Files::isDirectory);
    assertThat(folders).allMatch(it -> it.getFileName().toString().contains("_lenet5"));
  }

  @Test
  void otherRanksMakeNone() {
    assertThat(RunNames.newFolder(folder.resolve("runs"), "lenet5", false)).doesNotExist();
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void aFileInPlaceOfTheFolderOfAllRunsIsNamed() throws IOException {
    var file = Files.createFile(folder.resolve("runs"));
    assertThatThrownBy(() -> RunNames.newFolder(file, "lenet5", true))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining(file + ": a file is in its place");
  }
}
