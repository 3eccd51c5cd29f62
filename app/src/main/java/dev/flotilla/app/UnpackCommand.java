package dev.flotilla.app;

import dev.flotilla.memory.NativeLibraries;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/** {@code flotilla unpack}: gets libtorch ready, in the process that {@link Unpacking} starts. */
@Command(name = "unpack", hidden = true, description = "Gets libtorch ready for this machine.")
final class UnpackCommand implements Callable<Integer> {

  @Override
  public Integer call() {
    NativeLibraries.load();
    return 0;
  }
}
