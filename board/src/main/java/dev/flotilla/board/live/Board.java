package dev.flotilla.board.live;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;

/**
 * Shows runs in a browser while they go on. It reads their files and writes none, so that no job
 * notices it.
 */
public final class Board implements AutoCloseable {

  private static final int BACKLOG = 128;

  private final HttpServer server;
  private final ExecutorService threads;
  private final Runs runs;
  private final Deadlines deadlines;
  private final BoardAddress address;
  private final Access access = new Access();

  private Board(BoardSettings settings, Consumer<String> links) throws IOException {
    this.address = BoardAddress.of(settings.host());
    HttpLimits.apply();
    this.server =
        HttpServer.create(new InetSocketAddress(address.address(), settings.port()), BACKLOG);
    this.threads = Executors.newVirtualThreadPerTaskExecutor();
    this.runs = new Runs(settings.folder());
    this.deadlines = new Deadlines();
    server.setExecutor(threads);
    server.createContext(
        "/",
        new BoardHandler(
            new Gate(address.names()),
            access,
            new Streams(runs, deadlines),
            deadlines,
            "flotilla_board_" + port(),
            () -> links.accept(link())));
  }

  /**
   * Opens a board.
   *
   * @param links told the next link whenever one was used, as a link opens once
   * @throws BoardException if the folder or the address cannot be used
   */
  public static Board open(BoardSettings settings, Consumer<String> links) {
    requireFolder(settings.folder());
    try {
      var board = new Board(settings, links);
      board.server.start();
      return board;
    } catch (UnknownHostException unknown) {
      throw new BoardException(
          "--host: there is no host '%s'; leave it out, or give an address of this host"
              .formatted(settings.host()));
    } catch (BindException taken) {
      throw new BoardException(whyNotBound(settings, taken));
    } catch (IOException failure) {
      throw new BoardException("the board cannot be opened: " + failure.getMessage());
    }
  }

  private static void requireFolder(Path folder) {
    if (!Files.isDirectory(folder)) {
      throw new BoardException(
          Files.exists(folder)
              ? "%s is not a folder; give one that holds runs".formatted(folder)
              : "there is no folder %s; start a run first, or give the folder that holds your runs"
                  .formatted(folder));
    }
    if (!Files.isReadable(folder)) {
      throw new BoardException("%s cannot be read: permission denied".formatted(folder));
    }
  }

  private static String whyNotBound(BoardSettings settings, BindException taken) {
    var why = String.valueOf(taken.getMessage());
    if (why.contains("in use")) {
      return "--port: port %d of %s is in use, perhaps by another board; give another with --port, or 0 for any that is free"
          .formatted(settings.port(), settings.host());
    }
    return why.contains("Permission")
        ? "--port: this user may not listen on port %d; give one from 1024 on"
            .formatted(settings.port())
        : "--host: '%s' is no address of this host; leave it out, or give one that is"
            .formatted(settings.host());
  }

  /** Returns the port it listens on. */
  public int port() {
    return server.getAddress().getPort();
  }

  /** Tells whether other hosts can connect. */
  public boolean isOpenToOthers() {
    return !address.isLoopback();
  }

  /** Returns the link that opens it next; its token is behind the '#', which no browser sends. */
  public String link() {
    return "http://%s:%d/#t=%s".formatted(address.linkName(), port(), access.token());
  }

  @Override
  public void close() {
    server.stop(0);
    runs.close();
    deadlines.close();
    threads.shutdownNow();
  }
}
