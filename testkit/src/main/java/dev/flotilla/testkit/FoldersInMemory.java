package dev.flotilla.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDirFactory;

/**
 * Makes temporary folders of tests in memory, where the system has room for files there.
 *
 * <p>A save waits until the disk has it, which may take a tenth of a second; tests save thousands
 * of times and never lose power. Tests that want a disk ask for {@link TempDirFactory.Standard}.
 */
public final class FoldersInMemory implements TempDirFactory {

  private static final Path MEMORY = Path.of("/dev/shm");
  private static final long ENOUGH = 2L << 30;

  @Override
  public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext context)
      throws IOException {
    var name = "flotilla-test";
    return hasRoom() ? Files.createTempDirectory(MEMORY, name) : Files.createTempDirectory(name);
  }

  private static boolean hasRoom() throws IOException {
    return Files.isWritable(MEMORY) && Files.getFileStore(MEMORY).getUsableSpace() >= ENOUGH;
  }
}
