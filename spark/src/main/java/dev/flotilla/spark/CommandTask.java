package dev.flotilla.spark;

import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;

/** A task that runs one command of Flotilla to its end. */
final class CommandTask implements Serializable {

  private static final long serialVersionUID = 1;
  private static final long POLL_MILLIS = 200;

  private final List<String> arguments;

  CommandTask(List<String> arguments) {
    this.arguments = List.copyOf(arguments);
  }

  /** Runs the command; what it is given has no meaning. */
  void run(Object nothing) throws IOException, InterruptedException {
    var conf = SparkEnv.get().conf();
    var home =
        FlotillaHome.find(
            conf.get(Requirements.HOME), conf.get(Requirements.JDK, ""), System.getenv());
    try (var child =
        ChildProcess.start(home.command(arguments), Map.of(), Path.of("").toAbsolutePath(), 0)) {
      while (!child.hasEnded(POLL_MILLIS)) {
        if (TaskContext.get().isInterrupted()) {
          throw new InterruptedException("the task was cancelled");
        }
      }
      if (child.exitCode() != ExitCode.OK) {
        throw new IllegalStateException(
            "flotilla %s ended with exit code %d; it last said:%n%s"
                .formatted(arguments.get(0), child.exitCode(), child.lastLines()));
      }
    }
  }
}
