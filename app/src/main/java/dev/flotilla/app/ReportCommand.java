package dev.flotilla.app;

import dev.flotilla.board.page.Report;
import dev.flotilla.board.run.Run;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.world.ExitCodes;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Draws runs as a page; compares them if there are several. */
@Command(
    name = "report",
    description = {
      "Draws a run, or compares several, in one page that needs no network.",
      "A run writes its own report.html when it ends; this makes that of a run which",
      "was killed or still goes on, and of several runs together."
    },
    footer = {
      "",
      "Example:",
      "  flotilla report runs/plain runs/dgc --out compare.html --csv tables"
    },
    mixinStandardHelpOptions = true)
final class ReportCommand implements Callable<Integer> {

  @Parameters(paramLabel = "RUN", arity = "1..*", description = "Folders of runs.")
  List<Path> folders = List.of();

  @Option(
      names = "--out",
      paramLabel = "FILE",
      description = {
        "Page to write; by default report.html in the run's folder,",
        "or here if there are several runs."
      })
  @Nullable Path out;

  @Option(
      names = "--csv",
      paramLabel = "DIR",
      description = "Also writes numbers: runs.csv compares, and one file per run has its curves.")
  @Nullable Path csv;

  @Option(names = "--svg", paramLabel = "DIR", description = "Also writes each chart as a picture.")
  @Nullable Path svg;

  @Override
  public Integer call() {
    var report = new Report(runs());
    var page = out == null ? usualFile() : out;
    if (Files.isDirectory(page)) {
      throw new ConfigException("--out", page + " is a folder; name a file in it");
    }
    write(page, () -> report.write(page));
    System.out.println("report: " + page);
    if (csv != null) {
      var folder = csv;
      write(folder, () -> report.writeCsv(folder));
      System.out.println("numbers: " + folder);
    }
    if (svg != null) {
      var folder = svg;
      write(folder, () -> report.writeSvg(folder));
      System.out.println("pictures: " + folder);
    }
    return ExitCodes.OK;
  }

  /** Runs of one name are told apart by their paths. */
  private List<Run> runs() {
    var runs = folders.stream().map(Run::read).toList();
    Set<String> seen = new HashSet<>();
    var twice =
        runs.stream().map(Run::name).filter(name -> !seen.add(name)).collect(Collectors.toSet());
    return runs.stream()
        .map(run -> twice.contains(run.name()) ? run.named(run.folder().toString()) : run)
        .toList();
  }

  private Path usualFile() {
    return folders.size() == 1 ? folders.getFirst().resolve(Report.FILE) : Path.of(Report.FILE);
  }

  private interface Writing {
    void write() throws IOException;
  }

  private static void write(Path where, Writing writing) {
    try {
      writing.write();
    } catch (IOException failure) {
      throw new ConfigException(
          "report", "cannot write %s: %s; name another place".formatted(where, reason(failure)));
    }
  }

  private static String reason(IOException failure) {
    return switch (failure) {
      case AccessDeniedException _ -> "permission denied";
      case NoSuchFileException _ -> "its folder does not exist";
      default -> String.valueOf(failure.getMessage());
    };
  }
}
