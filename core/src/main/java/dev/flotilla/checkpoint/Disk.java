package dev.flotilla.checkpoint;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/**
 * The operations by which a save changes the file system; what tests fail, record and replay.
 *
 * <p>Folders are private to their owner, and so are files.
 */
interface Disk {

  /** Makes a folder whose parent exists. */
  void createFolder(Path folder) throws IOException;

  /** Makes a new file. */
  NewFile create(Path file) throws IOException;

  /** Gives a file or folder another name in one instant. */
  void rename(Path from, Path to) throws IOException;

  /** Deletes a file or an empty folder. */
  void delete(Path path) throws IOException;

  /** Makes the names in a folder survive a loss of power. */
  void syncFolder(Path folder) throws IOException;

  /** Returns how many more bytes a folder can take. */
  long room(Path folder) throws IOException;

  /** A file that is being written. */
  interface NewFile extends AutoCloseable {

    /** Writes all bytes. */
    void write(ByteBuffer bytes) throws IOException;

    /** Makes what was written survive a loss of power. */
    void sync() throws IOException;

    @Override
    void close() throws IOException;
  }
}
