package dev.flotilla.launch;

import dev.flotilla.control.JobLink;
import dev.flotilla.text.Secrets;
import dev.flotilla.world.ExitCoded;
import dev.flotilla.world.ExitCodes;
import dev.flotilla.world.MissingNativeException;
import dev.flotilla.world.RankEnvironment;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Runs the program of one rank: {@code RankMain MAIN ARGS...}.
 *
 * <p>Before, it makes sure that this process ends with its launcher. After an exception that nobody
 * caught, it notes the cause in the error file and ends the process with the exception's {@link
 * ExitCoded} code, or 1. Started without a launcher, it merely runs the program.
 */
public final class RankMain {

  /** Time that shutdown hooks have once the program has failed. */
  private static final Duration LONGEST_EXIT = Duration.ofSeconds(3);

  private final Map<String, String> environment;
  private final Secrets secrets;

  private RankMain(Map<String, String> environment) {
    this.environment = environment;
    this.secrets = new Secrets(environment);
  }

  /** Runs the program named by the first argument with the remaining ones. */
  public static void main(String[] args) {
    var rank = new RankMain(System.getenv());
    LauncherWatch.start(System.getenv());
    JobLink.ofThisProcess();
    if (args.length == 0) {
      rank.fail(new LaunchException("usage: RankMain MAIN-CLASS [ARGUMENT]..."));
      return;
    }
    try {
      mainOf(args[0]).invoke(null, (Object) Arrays.copyOfRange(args, 1, args.length));
    } catch (InvocationTargetException e) {
      rank.fail(e.getCause() == null ? e : e.getCause());
    } catch (LaunchException | IllegalAccessException | LinkageError e) {
      rank.fail(e);
    }
  }

  private static Method mainOf(String className) {
    try {
      Method main = Class.forName(className).getMethod("main", String[].class);
      if (!Modifier.isStatic(main.getModifiers())) {
        throw new LaunchException("the main method of " + className + " must be static");
      }
      main.setAccessible(true);
      return main;
    } catch (ClassNotFoundException e) {
      throw new LaunchException("the main class %s is not on the class path".formatted(className));
    } catch (NoSuchMethodException e) {
      throw new LaunchException(
          "the class %s has no public static void main(String[])".formatted(className));
    }
  }

  private void fail(Throwable thrown) {
    var failure = MissingNativeException.of(thrown).map(Throwable.class::cast).orElse(thrown);
    writeErrorFile(failure);
    Optional<ExitCoded> expected = expected(failure);
    if (expected.isPresent() && expected.get() instanceof Throwable known) {
      System.err.println(secrets.hideIn(String.valueOf(known.getMessage())));
    } else {
      System.err.print(secrets.hideIn(ErrorFile.trace(failure)));
    }
    System.err.flush();
    exit(expected.map(ExitCoded::exitCode).orElseGet(() -> unexpectedCode(failure)));
  }

  private static int unexpectedCode(Throwable failure) {
    return failure instanceof OutOfMemoryError ? ExitCodes.OUT_OF_MEMORY : ExitCodes.FAILED;
  }

  private static Optional<ExitCoded> expected(Throwable failure) {
    for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof ExitCoded coded) {
        return Optional.of(coded);
      }
    }
    return Optional.empty();
  }

  private void writeErrorFile(Throwable failure) {
    String file = environment.get(RankEnvironment.ERROR_FILE);
    if (file == null) {
      return;
    }
    try {
      ErrorFile.write(
          Path.of(file), RankEnvironment.rankIn(environment), HostName.local(), failure, secrets);
    } catch (IOException | InvalidPathException e) {
      System.err.println("cannot write the error file " + file + ": " + e.getMessage());
    }
  }

  /** Ends the process, also when a shutdown hook never returns. */
  private static void exit(int code) {
    Thread.ofPlatform()
        .daemon()
        .name("flotilla-exit")
        .start(
            () -> {
              sleep(LONGEST_EXIT);
              Runtime.getRuntime().halt(code);
            });
    System.exit(code);
  }

  private static void sleep(Duration duration) {
    try {
      Thread.sleep(duration);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
