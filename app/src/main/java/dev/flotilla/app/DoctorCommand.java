package dev.flotilla.app;

import dev.flotilla.app.doctor.DoctorText;
import dev.flotilla.app.doctor.Finding;
import dev.flotilla.app.doctor.HostFacts.Job;
import dev.flotilla.app.doctor.HostReader;
import dev.flotilla.app.doctor.Level;
import dev.flotilla.app.doctor.LinkChecks;
import dev.flotilla.app.doctor.Measured;
import dev.flotilla.launch.AppOption;
import dev.flotilla.launch.LaunchFlags;
import dev.flotilla.launch.ParsedFlags;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.HomePath;
import dev.flotilla.world.ExitCodes;
import dev.flotilla.world.RankEnvironment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/**
 * Looks whether a host, and the links between ranks, are fit for training.
 *
 * <p>Its options are those of {@link RunCommand}, so the launch module reads them, not picocli.
 */
@Command(
    name = "doctor",
    description = {
      "Looks whether this host is fit for training: JDK, native libraries, CPU, GPU, memory, disk,",
      "limits, network. Started as flotilla run would be, on each host, it starts the ranks too"
          + " and",
      "measures latency, bandwidth and clocks between them.",
      "Exit code 0: no error (there may be warnings); 1: at least one error."
    },
    customSynopsis = {
      "flotilla doctor [--nproc N] [--out DIR] [--json]",
      "flotilla doctor --nnodes N --node-rank I --master-addr HOST [--nproc N] --job-key-file FILE"
    },
    footer = {
      "",
      "  --out DIR   where runs would go; its disk is looked at (runs)",
      "  --json      prints JSON, and nothing else; flotilla plan --advise reads it",
      "All other options are those of flotilla run, see flotilla run --help.",
      "",
      "Example: on h0, the first of two hosts; on the second with --node-rank 1",
      "  flotilla doctor --nnodes 2 --node-rank 0 --master-addr h0 --job-key-file key"
    },
    mixinStandardHelpOptions = true)
final class DoctorCommand implements Callable<Integer> {

  static final List<AppOption> OPTIONS =
      List.of(new AppOption("--out", true), new AppOption("--json", false));

  private final List<String> arguments;

  DoctorCommand() {
    this(List.of());
  }

  DoctorCommand(List<String> arguments) {
    this.arguments = arguments;
  }

  @Override
  public Integer call() {
    long start = System.nanoTime();
    var flags = LaunchFlags.ofThisHost(OPTIONS).parse(withRanks(arguments));
    requireNothingElse(flags);
    boolean json = flags.appArguments().contains("--json");
    List<Finding> findings = new ArrayList<>(new HostReader(job(flags), out(flags)).look());
    boolean isReady =
        findings.stream().noneMatch(it -> it.check().equals("natives") && it.level() != Level.OK);
    Optional<Measured> measured =
        isReady
            ? Diagnosis.run(flags.settings(), why -> findings.add(failed(why)))
            : Optional.empty();
    measured.ifPresent(it -> findings.addAll(LinkChecks.all(it)));
    double seconds = (System.nanoTime() - start) / 1e9;
    if (json) {
      System.out.println(
          Json.pretty(DoctorText.json(findings, measured, OptionalDouble.of(seconds))));
    } else {
      System.out.print(DoctorText.of(findings));
      measured.map(DoctorText::table).ifPresent(System.out::print);
      System.out.print(DoctorText.verdict(findings, seconds));
    }
    return findings.stream().anyMatch(it -> it.level() == Level.ERROR)
        ? ExitCodes.FAILED
        : ExitCodes.OK;
  }

  /** The launcher wants a number of ranks, and one is enough to see whether libtorch loads. */
  private static List<String> withRanks(List<String> arguments) {
    boolean isStated =
        arguments.stream()
            .anyMatch(it -> it.matches("--(nproc|nproc[-_]per[-_]node|gpus|ips)(=.*)?"));
    if (isStated || System.getenv().containsKey("PET_NPROC_PER_NODE")) {
      return arguments;
    }
    List<String> more = new ArrayList<>(List.of("--nproc", "1"));
    more.addAll(arguments);
    return more;
  }

  private static void requireNothingElse(ParsedFlags flags) {
    if (!flags.rest().isEmpty() || flags.mainClass().isPresent()) {
      throw new ConfigException(
          "doctor",
          "takes the launcher's options, --out and --json alone, but was given '%s'; flotilla"
                  .formatted(flags.mainClass().orElseGet(() -> flags.rest().getFirst()))
              + " run starts recipes and programs");
    }
  }

  private static Job job(ParsedFlags flags) {
    var settings = flags.settings();
    return new Job(
        settings.processes(),
        settings.nodes(),
        settings.nodeRank(),
        settings.masterAddress(),
        settings.masterPort().orElse(RankEnvironment.DEFAULT_MASTER_PORT));
  }

  private static Path out(ParsedFlags flags) {
    var given = flags.appArguments();
    int at = given.indexOf("--out");
    return at < 0 ? Path.of("runs") : HomePath.of(given.get(at + 1));
  }

  private static Finding failed(String why) {
    return Finding.error(
        "ranks",
        "the ranks could not measure together: " + why,
        "a run started the same way would fail as well",
        "the messages above say which rank, and why; the other findings may say what is in the"
            + " way");
  }
}
