package dev.flotilla.launch;

import dev.flotilla.world.RankEnvironment;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Looks at processes through {@code /proc}; where there is none, it sees nothing. */
final class ProcessTable {

  private static final Path PROC = Path.of("/proc");

  private ProcessTable() {}

  /** Tells whether a process is stopped by SIGSTOP or from its terminal. */
  static boolean isStopped(long pid) {
    return state(pid).filter(state -> state == 'T').isPresent();
  }

  private static Optional<Character> state(long pid) {
    try {
      String stat = Files.readString(PROC.resolve(pid + "/stat"), StandardCharsets.ISO_8859_1);
      // The name, in parentheses, may itself hold blanks and parentheses.
      int afterName = stat.lastIndexOf(')') + 2;
      return afterName < stat.length() ? Optional.of(stat.charAt(afterName)) : Optional.empty();
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /** Returns every process that inherited the name of a launch, whoever its parent is by now. */
  static List<ProcessHandle> ofLaunch(String launchId) {
    String entry = RankEnvironment.LAUNCH_ID + "=" + launchId;
    var found = new ArrayList<ProcessHandle>();
    try (DirectoryStream<Path> folders = Files.newDirectoryStream(PROC, "[0-9]*")) {
      for (Path folder : folders) {
        if (environmentOf(folder).contains(entry)) {
          ProcessHandle.of(Long.parseLong(folder.getFileName().toString())).ifPresent(found::add);
        }
      }
    } catch (IOException e) {
      return List.of();
    }
    return found;
  }

  private static String environmentOf(Path folder) {
    try {
      return Files.readString(folder.resolve("environ"), StandardCharsets.ISO_8859_1);
    } catch (IOException e) {
      return "";
    }
  }
}
