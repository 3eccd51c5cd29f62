package dev.flotilla.board.live;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Whoever does not read is dropped, also by the JDK's own server. */
class DeadlinesTests {

  @Test
  void aClientThatDoesNotReadIsDropped() throws Exception {
    TestBoard.useShortLimits();
    var end = new CompletableFuture<String>();
    try (var deadlines = new Deadlines();
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      server.setExecutor(threads);
      server.createContext(
          "/",
          exchange -> {
            exchange.sendResponseHeaders(200, 0);
            try {
              while (true) {
                deadlines.within(Duration.ofMillis(300));
                exchange.getResponseBody().write(new byte[Answer.SLICE]);
              }
            } catch (IOException dropped) {
              end.complete(dropped.getClass().getSimpleName());
              throw dropped;
            }
          });
      server.start();
      try (var client =
          new Socket(InetAddress.getLoopbackAddress(), server.getAddress().getPort())) {
        client
            .getOutputStream()
            .write("GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.UTF_8));
        assertThat(end.get(10, TimeUnit.SECONDS)).isEqualTo("ClosedByInterruptException");
      } finally {
        server.stop(0);
      }
    }
  }

  @Test
  void whoeverIsInTimeIsLeftAlone() throws InterruptedException {
    try (var deadlines = new Deadlines()) {
      for (int i = 0; i < 10; i++) {
        deadlines.within(Duration.ofMillis(600));
        Thread.sleep(100);
      }
      deadlines.within(Duration.ofMillis(100));
      deadlines.lift();
      Thread.sleep(500); // an interrupt would end it
      assertThat(Thread.interrupted()).isFalse();
    }
  }
}
