package dev.flotilla.checkpoint;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Does everything for real and notes it, so that a loss of power can be played at any point. */
final class RecordingDisk implements Disk {

  /** One change of the file system, or one promise of it. */
  sealed interface Operation {
    record CreateFolder(Path folder) implements Operation {}

    record Create(Path file) implements Operation {}

    @SuppressWarnings("ArrayRecordComponent")
    record Write(Path file, byte[] bytes) implements Operation {}

    record Sync(Path file) implements Operation {}

    record Rename(Path from, Path to) implements Operation {}

    record Delete(Path path) implements Operation {}

    record SyncFolder(Path folder) implements Operation {}
  }

  private final Disk real = new RealDisk();
  private final List<Operation> operations = new ArrayList<>();

  synchronized List<Operation> operations() {
    return List.copyOf(operations);
  }

  private synchronized void note(Operation operation) {
    operations.add(operation);
  }

  @Override
  public void createFolder(Path folder) throws IOException {
    real.createFolder(folder);
    note(new Operation.CreateFolder(folder));
  }

  @Override
  public NewFile create(Path file) throws IOException {
    var created = real.create(file);
    note(new Operation.Create(file));
    return new Recorded(file, created);
  }

  @Override
  public void rename(Path from, Path to) throws IOException {
    real.rename(from, to);
    note(new Operation.Rename(from, to));
  }

  @Override
  public void delete(Path path) throws IOException {
    real.delete(path);
    note(new Operation.Delete(path));
  }

  @Override
  public void syncFolder(Path folder) throws IOException {
    real.syncFolder(folder);
    note(new Operation.SyncFolder(folder));
  }

  @Override
  public long room(Path folder) throws IOException {
    return real.room(folder);
  }

  private final class Recorded implements NewFile {

    private final Path file;
    private final NewFile created;

    Recorded(Path file, NewFile created) {
      this.file = file;
      this.created = created;
    }

    @Override
    public void write(ByteBuffer bytes) throws IOException {
      var copy = new ByteArrayOutputStream();
      var view = bytes.duplicate();
      while (view.hasRemaining()) {
        copy.write(view.get());
      }
      created.write(bytes);
      note(new Operation.Write(file, copy.toByteArray()));
    }

    @Override
    public void sync() throws IOException {
      created.sync();
      note(new Operation.Sync(file));
    }

    @Override
    public void close() throws IOException {
      created.close();
    }
  }
}
