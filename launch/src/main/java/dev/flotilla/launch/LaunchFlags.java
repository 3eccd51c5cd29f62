package dev.flotilla.launch;

import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Reads the launcher's command line: torchrun's options, Fleet's, and ours.
 *
 * <p>Options are written with dashes or underscores, their values after a blank or {@code =}. An
 * option that is not given may come from the environment as {@code PET_NAME}. One that cannot be
 * kept is refused with its reason; one that changes nothing is a warning; none is ignored.
 */
public final class LaunchFlags {

  private final Map<String, String> environment;
  private final int cores;
  private final Supplier<Set<String>> hostAddresses;
  private final List<AppOption> appOptions;

  /**
   * Creates a parser.
   *
   * @param environment where defaults come from
   * @param cores number of processors of this host
   * @param hostAddresses addresses of this host, asked for only where {@code --ips} needs them
   * @param appOptions options to pass on to the application
   */
  public LaunchFlags(
      Map<String, String> environment,
      int cores,
      Supplier<Set<String>> hostAddresses,
      List<AppOption> appOptions) {
    this.environment = Map.copyOf(environment);
    this.cores = cores;
    this.hostAddresses = hostAddresses;
    this.appOptions = List.copyOf(appOptions);
  }

  /** Returns a parser for this host and this process's environment. */
  public static LaunchFlags ofThisHost(List<AppOption> appOptions) {
    return new LaunchFlags(
        System.getenv(),
        Runtime.getRuntime().availableProcessors(),
        LaunchFlags::addresses,
        appOptions);
  }

  /**
   * An option for people to read.
   *
   * @param names how it is written, with what its value is called
   * @param doc what it is for
   */
  public record Described(String names, String doc) {}

  /** Returns the options that are settings. */
  public static List<Described> described() {
    List<Described> described = new ArrayList<>();
    FlagTable.all()
        .forEach(
            flag -> {
              if (flag.rule() instanceof Flag.Rule.Honoured(String value, String doc)) {
                String names = String.join(", ", flag.names());
                described.add(new Described((names + " " + value).strip(), doc));
              }
            });
    return described;
  }

  /**
   * Reads a command line.
   *
   * @throws LaunchException with every problem found
   */
  public ParsedFlags parse(List<String> arguments) {
    var reader = new FlagReader(appOptions);
    reader.readArguments(arguments);
    reader.readVariables(environment);
    return new SettingsReader(reader, environment, cores, hostAddresses).read();
  }

  private static Set<String> addresses() {
    try (Stream<NetworkInterface> interfaces = NetworkInterface.networkInterfaces()) {
      return interfaces
          .flatMap(NetworkInterface::inetAddresses)
          .map(address -> address.getHostAddress())
          .collect(Collectors.toSet());
    } catch (SocketException e) {
      return Set.of();
    }
  }
}
