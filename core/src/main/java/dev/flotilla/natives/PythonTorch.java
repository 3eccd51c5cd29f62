package dev.flotilla.natives;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What the host's Python has of PyTorch, and what its pip can get; asked, never imported. */
final class PythonTorch {

  private static final Duration LONGEST_LOOK = Duration.ofSeconds(60);
  private static final Duration LONGEST_DOWNLOAD = Duration.ofMinutes(25);
  private static final String WHERE =
      "import importlib.util as u; s = u.find_spec('torch'); "
          + "print('\\n' + (s.submodule_search_locations[0] if s else ''))";

  private final Commands commands;

  PythonTorch(Commands commands) {
    this.commands = commands;
  }

  /** Returns the folder of libraries of an installed PyTorch. */
  Optional<Path> installedLibraries() {
    var answer = commands.run(LONGEST_LOOK, List.of("python3", "-c", WHERE));
    if (!answer.isOk() || answer.output().isBlank()) {
      return Optional.empty();
    }
    try {
      var libraries = Path.of(answer.lastLine()).resolve("lib");
      return Files.isDirectory(libraries) ? Optional.of(libraries) : Optional.empty();
    } catch (InvalidPathException noPath) {
      return Optional.empty();
    }
  }

  /**
   * Downloads the wheel of a version, with the index and the settings that the machine has.
   *
   * <p>The one for CPython 3.11 whatever Python is here: libtorch is the same, and its hash known.
   *
   * @throws IOException with pip's own words if it cannot be had
   */
  Wheel download(String version, Path folder) throws IOException {
    var arguments =
        List.of(
            "download",
            "--disable-pip-version-check",
            "--no-input",
            "--no-deps",
            "--only-binary=:all:",
            "--platform=manylinux_2_28_aarch64",
            "--implementation=cp",
            "--python-version=3.11",
            "--abi=cp311",
            "--dest=" + folder,
            "torch==" + version);
    List<String> answers = new ArrayList<>();
    for (var pip : List.of(List.of("python3", "-m", "pip"), List.of("pip3"), List.of("pip"))) {
      List<String> command = new ArrayList<>(pip);
      command.addAll(arguments);
      var answer = commands.run(LONGEST_DOWNLOAD, command);
      if (answer.isOk()) {
        return downloaded(folder);
      }
      boolean isAbsent =
          answer.exitCode() == Commands.Result.ABSENT
              || answer.output().contains("No module named pip");
      answers.add(isAbsent ? String.join(" ", pip) + " is not installed" : answer.lastLine());
      if (!isAbsent) {
        throw new IOException("pip says: " + answer.lastLine());
      }
    }
    throw new IOException(String.join(", ", answers));
  }

  private static Wheel downloaded(Path folder) throws IOException {
    try (var files = Files.newDirectoryStream(folder, "torch-*.whl")) {
      for (var file : files) {
        return new Wheel(file);
      }
    }
    throw new IOException("pip downloaded no wheel");
  }
}
