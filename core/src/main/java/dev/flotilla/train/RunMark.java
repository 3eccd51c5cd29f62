package dev.flotilla.train;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Says whose a run's folder is: a small file in it. Each checkpoint names the same run.
 *
 * @param run identity of the run
 * @param launch the launch that began it, or went on with it, last; empty if it had no name
 * @param writer the attempt that writes to it; empty in folders of earlier versions
 */
record RunMark(String run, String launch, String writer) {

  private static final String FILE = ".run";
  private static final Pattern LINES =
      Pattern.compile("run ([0-9a-f]{16})\nlaunch ([0-9a-f]{16})?\n(?:writer ([0-9a-f]{16})\n)?");

  /** Returns a name that nobody else has. */
  static String newName() {
    return HexFormat.of().toHexDigits(new SecureRandom().nextLong());
  }

  /** Reads the mark of a folder; nothing if there is none, as in folders of earlier versions. */
  static Optional<RunMark> in(Path folder) throws IOException {
    try {
      var matcher = LINES.matcher(Files.readString(folder.resolve(FILE)));
      return matcher.matches()
          ? Optional.of(
              new RunMark(
                  matcher.group(1),
                  Objects.requireNonNullElse(matcher.group(2), ""),
                  Objects.requireNonNullElse(matcher.group(3), "")))
          : Optional.empty();
    } catch (NoSuchFileException none) {
      return Optional.empty();
    }
  }

  void writeTo(Path folder) throws IOException {
    var part = folder.resolve(FILE + ".part");
    Files.deleteIfExists(part);
    Files.createFile(part, RunPaths.owner("rw-------"));
    Files.writeString(part, "run %s%nlaunch %s%nwriter %s%n".formatted(run, launch, writer));
    Files.move(part, folder.resolve(FILE), StandardCopyOption.ATOMIC_MOVE);
  }
}
