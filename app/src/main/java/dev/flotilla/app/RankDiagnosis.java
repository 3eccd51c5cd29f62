package dev.flotilla.app;

import dev.flotilla.app.doctor.RankProbe;
import dev.flotilla.memory.CpuThreads;
import dev.flotilla.world.World;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What a rank runs that {@code flotilla doctor} has launched. */
public final class RankDiagnosis {

  private RankDiagnosis() {}

  /** Measures with the other ranks; rank 0 leaves the result in the file that is named. */
  public static void main(String[] args) throws IOException {
    var world = World.join();
    int threads = world.threads(System.getenv(), CpuThreads.coresHere());
    var measured = RankProbe.run(world, threads);
    if (measured.isPresent()) {
      Files.writeString(Path.of(args[0]), Json.line(measured.get().json()));
    }
  }
}
