package dev.flotilla.launch;

import dev.flotilla.world.RankEnvironment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Sorts a command line into values of the launcher, options of the application, and the rest. */
final class FlagReader {

  /**
   * A value and where it comes from.
   *
   * @param spelled the option as it was written, or the name of the variable
   * @param fromCommandLine whether it was an option
   */
  record Given(String value, String spelled, boolean fromCommandLine) {}

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

  /** Reads options up to the first argument that is none, or {@code --}. */
  void readArguments(List<String> arguments) {
    int next = 0;
    while (next < arguments.size() && isOption(arguments.get(next))) {
      next = readOption(arguments, next);
    }
    boolean separated = next < arguments.size() && arguments.get(next).equals("--");
    rest.addAll(arguments.subList(separated ? next + 1 : next, arguments.size()));
  }

  private static boolean isOption(String argument) {
    return argument.startsWith("-") && argument.length() > 1 && !argument.equals("--");
  }

  /** Reads defaults of options that were not given. */
  void readVariables(Map<String, String> environment) {
    for (Flag flag : FlagTable.withVariables()) {
      String name = RankEnvironment.FLAG_PREFIX + flag.variableSuffix();
      String value = environment.get(name);
      if (value != null && !values.containsKey(flag.name()) && !isOff(flag, value)) {
        take(flag, new Given(value, name, false));
      }
    }
  }

  private static boolean isOff(Flag flag, String value) {
    return !flag.takesValue() && (value.isEmpty() || value.equals("0"));
  }

  private int readOption(List<String> arguments, int at) {
    String argument = arguments.get(at);
    int equals = argument.indexOf('=');
    String name = equals < 0 ? argument : argument.substring(0, equals);
    @Nullable String attached = equals < 0 ? null : argument.substring(equals + 1);
    Optional<AppOption> app =
        appOptions.stream().filter(option -> option.name().equals(name)).findFirst();
    Optional<Flag> flag = FlagTable.find(name);
    if (app.isEmpty() && flag.isEmpty()) {
      unknown(name);
      return at + 1;
    }
    boolean takesValue =
        app.map(AppOption::takesValue).orElse(flag.map(Flag::takesValue).orElse(false));
    boolean separate = takesValue && attached == null;
    if (separate && !hasValueAt(arguments, at + 1)) {
      problems.add(name + " needs a value");
      return at + 1;
    }
    if (!takesValue && attached != null) {
      problems.add("%s takes no value, but was given '%s'".formatted(name, attached));
    }
    int after = at + (separate ? 2 : 1);
    if (app.isPresent()) {
      appArguments.addAll(arguments.subList(at, after));
    } else {
      String value = separate ? arguments.get(at + 1) : attached == null ? "" : attached;
      take(flag.get(), new Given(value, name, true));
    }
    return after;
  }

  private static boolean hasValueAt(List<String> arguments, int at) {
    return at < arguments.size()
        && (!isOption(arguments.get(at)) || arguments.get(at).matches("-[0-9]+"))
        && !arguments.get(at).equals("--");
  }

  private void take(Flag flag, Given given) {
    switch (flag.rule()) {
      case Flag.Rule.Honoured() -> values.put(flag.name(), given);
      case Flag.Rule.NoEffect(String reason) ->
          warnings.add("%s has no effect: %s".formatted(given.spelled(), reason));
      case Flag.Rule.Refused(String reason, var harmless) -> {
        if (!harmless.contains(given.value()) || !flag.takesValue()) {
          problems.add("%s: %s".formatted(shown(given), reason));
        }
      }
    }
  }

  private static String shown(Given given) {
    return given.value().isEmpty() ? given.spelled() : given.spelled() + " " + given.value();
  }

  private void unknown(String name) {
    Stream<String> known =
        Stream.concat(
            FlagTable.all().flatMap(flag -> flag.names().stream()),
            appOptions.stream().map(AppOption::name));
    String hint =
        NearestName.of(FlagTable.dashed(name), known)
            .map(nearest -> "; did you mean %s?".formatted(nearest))
            .orElse("");
    problems.add("unknown option %s%s".formatted(name, hint));
  }
}
