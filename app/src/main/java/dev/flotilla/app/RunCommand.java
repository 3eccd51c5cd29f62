package dev.flotilla.app;

import dev.flotilla.config.ConfiguredRun;
import dev.flotilla.config.Resume;
import dev.flotilla.launch.AppOption;
import dev.flotilla.launch.LaunchException;
import dev.flotilla.launch.LaunchFlags;
import dev.flotilla.launch.ParsedFlags;
import dev.flotilla.launch.RankCommand;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.train.FolderLock;
import dev.flotilla.train.RunFolder;
import dev.flotilla.train.RunPaths;
import dev.flotilla.world.ExitCodes;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.IntSupplier;
import picocli.CommandLine.Command;

/**
 * Launches ranks on this host; everything is checked before the first process starts.
 *
 * <p>Its options are torchrun's and Fleet's, so the launch module reads them, not picocli.
 */
@Command(
    name = "run",
    description = {
      "Launches ranks of a recipe on this host, or of a program of your own with --main.",
      "Several hosts: run it on each with --nnodes, --node-rank, --master-addr, --master-port.",
      "torchrun's and Fleet's options are understood."
    },
    customSynopsis = {
      "flotilla run --nproc N [RECIPE] [--set KEY=VALUE]... [--out DIR] [--max-steps N] [--json]",
      "flotilla run --nproc N --main CLASS -cp JARS -- ARGS..."
    },
    mixinStandardHelpOptions = true)
final class RunCommand implements Callable<Integer> {

  static final List<AppOption> TRAIN_OPTIONS =
      List.of(
          new AppOption("--set", true),
          new AppOption("--out", true),
          new AppOption("--resume", true),
          new AppOption("--max-steps", true),
          new AppOption("--init-from", true),
          new AppOption("--no-strict", false),
          new AppOption("--progress", true),
          new AppOption("-q", false),
          new AppOption("--quiet", false),
          new AppOption("-v", false),
          new AppOption("--verbose", false),
          new AppOption("--json", false));

  private final List<String> arguments;

  /** Tells whether an option of {@code flotilla train} is passed on to the ranks. */
  static boolean takes(String option) {
    return TRAIN_OPTIONS.stream().anyMatch(it -> it.name().equals(option));
  }

  RunCommand() {
    this(List.of());
  }

  RunCommand(List<String> arguments) {
    this.arguments = arguments;
  }

  @Override
  public Integer call() {
    var flags = LaunchFlags.ofThisHost(TRAIN_OPTIONS).parse(arguments);
    flags.warnings().forEach(warning -> System.err.println("flotilla: warning: " + warning));
    return flags.mainClass().isPresent() ? launchProgram(flags) : launchRecipe(flags);
  }

  private static int launchProgram(ParsedFlags flags) {
    if (!flags.appArguments().isEmpty()) {
      throw new ConfigException(
          flags.appArguments().getFirst(),
          "belongs to recipes, not to --main; pass it to the program behind --");
    }
    var classPath =
        flags.classPath().map(path -> path + File.pathSeparator).orElse("")
            + RankLaunch.ownClassPath();
    var command =
        new RankCommand(
            RankCommand.currentJava(),
            JvmOptions.ofRanks(),
            classPath,
            flags.mainClass().orElseThrow(),
            flags.rest());
    return RankLaunch.launch(
        flags,
        flags.settings().logDir(),
        command,
        RankLaunch.output(System.out, ProgressMode.AUTO));
  }

  private static int launchRecipe(ParsedFlags flags) {
    List<String> given = new ArrayList<>(flags.appArguments());
    given.addAll(flags.rest());
    var train = TrainCommand.parse(given);
    var run = new ConfiguredRun(train.recipe.read(), PlanCommand.worldOf(ranksOf(flags)));
    if (RankLaunch.isFirstHost(flags)) {
      run.checkWeights();
    }
    var _ = run.plan(); // refuses what cannot be, before any process starts
    run.requirePorts(flags.settings().processes());
    var out = train.folder(run.config(), RankLaunch.isFirstHost(flags));
    if (RankLaunch.isFirstHost(flags)) {
      run.requireUsable(out, train.resume());
    }
    if (!train.json && train.detail() == Detail.USUAL) {
      System.out.print(PlanText.settings(run.config()));
    }
    List<String> rankArguments = new ArrayList<>(train.recipe.arguments());
    rankArguments.addAll(List.of("--out", out.toAbsolutePath().toString()));
    if (train.detail() != Detail.USUAL) {
      rankArguments.add(train.quiet ? "--quiet" : "--verbose");
    }
    List<String> onRestart = with(rankArguments, "--resume", "auto");
    if (train.resume != null) {
      rankArguments = with(rankArguments, "--resume", train.resume);
    }
    if (train.resume() instanceof Resume.From) {
      rankArguments = with(rankArguments, "--launch", RunFolder.newName());
      onRestart = new ArrayList<>(rankArguments);
      onRestart.add("--restarted");
    }
    var command = RankLaunch.command(RankTraining.class.getName(), rankArguments, onRestart);
    var people = train.json ? System.err : System.out;
    var logDir = flags.logDir().orElse(out.resolve("log"));
    var tables = RankLaunch.output(people, train.progress);
    var output = train.detail() == Detail.QUIET ? tables.withoutTables() : tables;
    IntSupplier launch = () -> RankLaunch.launch(flags, logDir, command, output);
    int code = RankLaunch.isFirstHost(flags) ? launchInto(out, launch) : launch.getAsInt();
    if (train.json && code == ExitCodes.OK && RankLaunch.isFirstHost(flags)) {
      System.out.print(summary(out));
    }
    return code;
  }

  private static String summary(Path out) {
    try {
      return Files.readString(RunPaths.summaryIn(out));
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot read the summary in " + out, failure);
    }
  }

  /** Locks the run's folder, made new, and takes it away again if no rank could be started. */
  private static int launchInto(Path out, IntSupplier launch) {
    boolean isNew = Files.notExists(out);
    try (var lock = RunFolder.lockForLaunch(out)) {
      try {
        return launch.getAsInt();
      } catch (LaunchException refused) {
        if (isNew) {
          removeIfEmpty(out, lock, refused);
        }
        throw refused;
      }
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot unlock " + out, failure);
    }
  }

  private static void removeIfEmpty(Path folder, FolderLock lock, LaunchException refused) {
    try (var files = Files.list(folder)) {
      if (files.count() == 1) {
        lock.delete();
        Files.delete(folder);
      }
    } catch (IOException kept) {
      refused.addSuppressed(kept);
    }
  }

  private static int ranksOf(ParsedFlags flags) {
    return flags.settings().worldSize();
  }

  private static List<String> with(List<String> arguments, String option, String value) {
    List<String> more = new ArrayList<>(arguments);
    more.addAll(List.of(option, value));
    return more;
  }
}
