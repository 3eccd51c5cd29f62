package dev.flotilla.launch;

import dev.flotilla.text.NearestName;
import dev.flotilla.world.RankEnvironment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** Sorts a command line into values of the launcher, options of the application, and the rest. */
final class FlagReader {

  /**
   * A value and where it comes from.
   *
   * @param spelled the option as it was written, or the name of the variable
   * @param fromCommandLine whether it was an option
   */
  record Given(String value, String spelled, boolean fromCommandLine) {}

  private record Written(String name, Optional<String> attached) {
    static Written of(String argument) {
      int equals = argument.indexOf('=');
      return equals < 0
          ? new Written(argument, Optional.empty())
          : new Written(argument.substring(0, equals), Optional.of(argument.substring(equals + 1)));
    }
  }

  private final Set<String> seen = new HashSet<>();
  private final Map<String, Given> values = new HashMap<>();
  private final List<String> appArguments = new ArrayList<>();
  private final List<String> rest = new ArrayList<>();
  private final List<String> warnings = new ArrayList<>();
  private final List<String> problems = new ArrayList<>();
  private final List<AppOption> appOptions;

  FlagReader(List<AppOption> appOptions) {
    this.appOptions = appOptions;
  }

  Optional<Given> value(String name) {
    return Optional.ofNullable(values.get(name));
  }

  List<String> appArguments() {
    return appArguments;
  }

  List<String> rest() {
    return rest;
  }

  List<String> warnings() {
    return warnings;
  }

  List<String> problems() {
    return problems;
  }

  /** Reads a whole number; notes a problem, and returns the least one, for anything else. */
  int number(Given given, int least, int most, String allowed) {
    String text = given.value().strip();
    if (text.matches("[0-9]{1,9}")) {
      int number = Integer.parseInt(text);
      if (number >= least && number <= most) {
        return number;
      }
    }
    wrong(given, "must be " + allowed);
    return least;
  }

  /** Notes that a value breaks a requirement. */
  void wrong(Given given, String requirement) {
    problem("%s %s, but was '%s'".formatted(given.spelled(), requirement, given.value()));
  }

  /** Notes that what is asked for is understood but cannot be done. */
  void refuse(Given given, String reason) {
    problem("%s: %s".formatted((given.spelled() + " " + given.value()).strip(), reason));
  }

  /** Notes that an option changes nothing. */
  void warn(String spelled, String reason) {
    warnings.add("%s has no effect: %s".formatted(spelled, reason));
  }

  /** Notes a problem, once. */
  void problem(String problem) {
    if (!problems.contains(problem)) {
      problems.add(problem);
    }
  }

  /**
   * Reads options up to {@code --}, and up to the first argument that is none where it belongs to a
   * program; a recipe may stand among them.
   */
  void readArguments(List<String> arguments) {
    int next = 0;
    while (next < arguments.size() && !isEndOfOptions(arguments.get(next))) {
      if (isOption(arguments.get(next))) {
        next = readOption(arguments, next);
      } else {
        rest.add(arguments.get(next));
        next++;
      }
    }
    boolean separated = next < arguments.size() && arguments.get(next).equals("--");
    rest.addAll(arguments.subList(separated ? next + 1 : next, arguments.size()));
  }

  private boolean isEndOfOptions(String argument) {
    return argument.equals("--") || (!isOption(argument) && values.containsKey(FlagTable.MAIN));
  }

  private static boolean isOption(String argument) {
    return argument.startsWith("-") && argument.length() > 1 && !argument.equals("--");
  }

  /** Reads defaults of options that were not given. */
  void readVariables(Map<String, String> environment) {
    for (Flag flag : FlagTable.withVariables()) {
      String name = RankEnvironment.FLAG_PREFIX + flag.variableSuffix();
      String value = environment.get(name);
      if (value != null && !seen.contains(flag.name()) && !isOff(flag, value)) {
        take(flag, new Given(value, name, false));
      }
    }
  }

  private static boolean isOff(Flag flag, String value) {
    return value.isBlank() || (!flag.takesValue() && value.equals("0"));
  }

  private int readOption(List<String> arguments, int at) {
    Written written = Written.of(arguments.get(at));
    Optional<Boolean> takesValue = takesValue(written.name());
    if (takesValue.isEmpty()) {
      unknown(written.name());
      return at + 1;
    }
    boolean separate = takesValue.get() && written.attached().isEmpty();
    if (separate && !hasValueAt(arguments, at + 1)) {
      problem(written.name() + " needs a value");
      return at + 1;
    }
    if (!takesValue.get() && written.attached().isPresent()) {
      problem("%s takes no value".formatted(arguments.get(at)));
      return at + 1;
    }
    int after = at + (separate ? 2 : 1);
    String value = separate ? arguments.get(at + 1) : written.attached().orElse("");
    takeOption(written.name(), value, arguments.subList(at, after));
    return after;
  }

  private void takeOption(String name, String value, List<String> asWritten) {
    if (appOption(name).isPresent()) {
      appArguments.addAll(asWritten);
    } else {
      FlagTable.find(name).ifPresent(flag -> take(flag, new Given(value, name, true)));
    }
  }

  private Optional<Boolean> takesValue(String name) {
    return appOption(name)
        .map(AppOption::takesValue)
        .or(() -> FlagTable.find(name).map(Flag::takesValue));
  }

  private Optional<AppOption> appOption(String name) {
    return appOptions.stream().filter(option -> option.name().equals(name)).findFirst();
  }

  private static boolean hasValueAt(List<String> arguments, int at) {
    return at < arguments.size()
        && (!isOption(arguments.get(at)) || arguments.get(at).matches("-[0-9]+"))
        && !arguments.get(at).equals("--");
  }

  private void take(Flag flag, Given given) {
    seen.add(flag.name());
    switch (flag.rule()) {
      case Flag.Rule.Honoured(_, _) -> values.put(flag.name(), given);
      case Flag.Rule.NoEffect(String reason) -> warn(given.spelled(), reason);
      case Flag.Rule.Refused(String reason, var harmless) -> {
        if (!harmless.contains(given.value()) || !flag.takesValue()) {
          refuse(given, reason);
        }
      }
    }
  }

  private void unknown(String name) {
    List<String> known =
        Stream.concat(
                FlagTable.all().flatMap(flag -> flag.names().stream()),
                appOptions.stream().map(AppOption::name))
            .toList();
    String hint =
        NearestName.of(FlagTable.dashed(name), known)
            .map(nearest -> "; did you mean %s?".formatted(nearest))
            .orElse("");
    problem("unknown option %s%s".formatted(name, hint));
  }
}
