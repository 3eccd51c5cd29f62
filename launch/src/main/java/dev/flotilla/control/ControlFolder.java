package dev.flotilla.control;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The private folder through which a launcher and the ranks of its host find each other.
 *
 * <p>They talk through a socket of the file system, which opens no port. Where its name is too long
 * for one, a port of the loopback interface takes its place.
 *
 * @param path a folder of mode 0700
 */
public record ControlFolder(Path path) {

  /** Makes the key, and the socket that ranks connect to. */
  public ServerSocketChannel listen() throws IOException {
    write(keyFile(), JobKey.newText());
    ServerSocketChannel server = LocalSocket.listen(socket());
    if (server.getLocalAddress() instanceof InetSocketAddress loopback) {
      write(portFile(), Integer.toString(loopback.getPort()));
    }
    return server;
  }

  SocketChannel connect() throws IOException {
    if (isShort()) {
      return SocketChannel.open(UnixDomainSocketAddress.of(socket()));
    }
    try {
      int port = Integer.parseInt(Files.readString(portFile()));
      return SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    } catch (NumberFormatException e) {
      throw new IOException(portFile() + " holds no port");
    }
  }

  /** Reads the key. */
  public JobKey key() throws IOException {
    return JobKey.read(keyFile());
  }

  /** Leaves the key by which the ranks of all hosts know each other. */
  public void handOver(JobKey pairs) throws IOException {
    write(pairKeyFile(), pairs.text());
  }

  Optional<JobKey> pairKey() throws IOException {
    return Files.exists(pairKeyFile()) ? Optional.of(JobKey.read(pairKeyFile())) : Optional.empty();
  }

  private Path pairKeyFile() {
    return path.resolve("pairs.key");
  }

  /** Makes the empty trace of a rank; the disk has room for all of it from now on. */
  public TraceReader newTrace(int rank) throws IOException {
    Files.deleteIfExists(trace(rank));
    try (OutputStream out = PrivateFiles.newFile(trace(rank))) {
      out.write(new byte[Math.toIntExact(Trace.SIZE)]);
    }
    return new TraceReader(rank, Trace.map(trace(rank)));
  }

  Path trace(int rank) {
    return path.resolve("trace." + rank);
  }

  private boolean isShort() {
    return LocalSocket.canBe(socket());
  }

  private Path socket() {
    return path.resolve("control");
  }

  private Path portFile() {
    return path.resolve("control.port");
  }

  private Path keyFile() {
    return path.resolve("key");
  }

  private static void write(Path file, String text) throws IOException {
    try (OutputStream out = PrivateFiles.newFile(file)) {
      out.write(text.getBytes(StandardCharsets.UTF_8));
    }
  }
}
