package dev.flotilla.checkpoint;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/** Fails at one of its operations, and at all after it if the fault lasts. */
final class FailingDisk implements Disk {

  private final Disk real = new RealDisk();
  private final int failsAt;
  private final boolean lasts;
  private int done;

  FailingDisk(int failsAt, boolean lasts) {
    this.failsAt = failsAt;
    this.lasts = lasts;
  }

  synchronized int done() {
    return done;
  }

  private synchronized void step(String operation) throws IOException {
    done++;
    if (done == failsAt || (lasts && done > failsAt)) {
      throw new IOException("Input/output error in " + operation);
    }
  }

  @Override
  public void createFolder(Path folder) throws IOException {
    step("mkdir");
    real.createFolder(folder);
  }

  @Override
  public NewFile create(Path file) throws IOException {
    step("open");
    var created = real.create(file);
    return new NewFile() {
      @Override
      public void write(ByteBuffer bytes) throws IOException {
        step("write");
        created.write(bytes);
      }

      @Override
      public void sync() throws IOException {
        step("fsync");
        created.sync();
      }

      @Override
      public void close() throws IOException {
        created.close();
      }
    };
  }

  @Override
  public void rename(Path from, Path to) throws IOException {
    step("rename");
    real.rename(from, to);
  }

  @Override
  public void delete(Path path) throws IOException {
    step("unlink");
    real.delete(path);
  }

  @Override
  public void syncFolder(Path folder) throws IOException {
    step("fsync of a folder");
    real.syncFolder(folder);
  }

  @Override
  public long room(Path folder) throws IOException {
    return real.room(folder);
  }
}
