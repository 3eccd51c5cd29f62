package dev.flotilla.checkpoint;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/** A disk with room for so many more bytes; it knows it only when it is full, as quotas do. */
final class FullDisk implements Disk {

  private final Disk real = new RealDisk();
  private final boolean tells;
  private long room;

  /**
   * Creates a disk.
   *
   * @param tells whether it states its room truly beforehand
   */
  FullDisk(long room, boolean tells) {
    this.room = room;
    this.tells = tells;
  }

  private synchronized void take(int bytes) throws IOException {
    if (bytes > room) {
      throw new IOException("No space left on device");
    }
    room -= bytes;
  }

  @Override
  public void createFolder(Path folder) throws IOException {
    real.createFolder(folder);
  }

  @Override
  public NewFile create(Path file) throws IOException {
    var created = real.create(file);
    return new NewFile() {
      @Override
      public void write(ByteBuffer bytes) throws IOException {
        take(bytes.remaining());
        created.write(bytes);
      }

      @Override
      public void sync() throws IOException {
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
    real.rename(from, to);
  }

  @Override
  public void delete(Path path) throws IOException {
    real.delete(path);
  }

  @Override
  public void syncFolder(Path folder) throws IOException {
    real.syncFolder(folder);
  }

  @Override
  public synchronized long room(Path folder) throws IOException {
    return tells ? room : real.room(folder);
  }
}
