package dev.flotilla.checkpoint;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Does everything on one thread, because strace counts the calls of each thread by itself. */
final class OneThreadDisk implements Disk {

  private interface Operation {
    void run() throws IOException;
  }

  private final Disk real = new RealDisk();
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().factory());

  private void run(Operation operation) throws IOException {
    Object _ =
        call(
            () -> {
              operation.run();
              return true;
            });
  }

  private <T> T call(Callable<T> operation) throws IOException {
    try {
      return thread.submit(operation).get(30, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof IOException io ? io : new IOException(e.getCause());
    } catch (InterruptedException | TimeoutException e) {
      throw new IOException(e);
    }
  }

  @Override
  public void createFolder(Path folder) throws IOException {
    run(() -> real.createFolder(folder));
  }

  @Override
  public NewFile create(Path file) throws IOException {
    var created = call(() -> real.create(file));
    return new NewFile() {
      @Override
      public void write(ByteBuffer bytes) throws IOException {
        run(() -> created.write(bytes));
      }

      @Override
      public void sync() throws IOException {
        run(created::sync);
      }

      @Override
      public void close() throws IOException {
        run(created::close);
      }
    };
  }

  @Override
  public void rename(Path from, Path to) throws IOException {
    run(() -> real.rename(from, to));
  }

  @Override
  public void delete(Path path) throws IOException {
    run(() -> real.delete(path));
  }

  @Override
  public void syncFolder(Path folder) throws IOException {
    run(() -> real.syncFolder(folder));
  }

  @Override
  public long room(Path folder) throws IOException {
    return call(() -> real.room(folder));
  }
}
