package dev.flotilla.app;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.flotilla.config.MetricsEndpoint;
import dev.flotilla.report.TrainingEvent;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Serves the metrics of a rank at {@code /metrics} and nothing else.
 *
 * <p>Training only sets numbers; whoever asks is answered on another thread.
 */
public final class MetricsServer implements MetricsEndpoint {

  /** Opens endpoints for recipes that ask for them. */
  public static final class Provider implements MetricsEndpoint.Provider {
    @Override
    public MetricsEndpoint open(String host, int port, int rank) {
      try {
        return new MetricsServer(host, port, new PrometheusMetrics(rank));
      } catch (IOException failure) {
        throw new UncheckedIOException(failure);
      }
    }
  }

  private static final String PATH = "/metrics";

  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final PrometheusMetrics metrics;
  private final HostNames names;
  private final PrometheusTextFormatWriter format = PrometheusTextFormatWriter.create();

  private MetricsServer(String host, int port, PrometheusMetrics metrics) throws IOException {
    this.metrics = metrics;
    var address = InetAddress.getByName(host);
    names = HostNames.of(host, address);
    server = HttpServer.create(new InetSocketAddress(address, port), 0);
    server.setExecutor(threads);
    server.createContext("/", this::answer);
    server.start();
  }

  @Override
  public String address() {
    var bound = server.getAddress();
    var host = bound.getAddress().getHostAddress();
    return "http://%s:%d%s"
        .formatted(host.contains(":") ? "[" + host + "]" : host, bound.getPort(), PATH);
  }

  @Override
  public void on(TrainingEvent event) {
    metrics.on(event);
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      exchange.getResponseHeaders().set("X-Content-Type-Options", "nosniff");
      boolean isHead = exchange.getRequestMethod().equals("HEAD");
      if (!names.isMeantBy(exchange.getRequestHeaders().getFirst("Host"))) {
        exchange.sendResponseHeaders(403, -1);
      } else if (!PATH.equals(exchange.getRequestURI().getRawPath())) {
        exchange.sendResponseHeaders(404, -1);
      } else if (!isHead && !exchange.getRequestMethod().equals("GET")) {
        exchange.getResponseHeaders().set("Allow", "GET, HEAD");
        exchange.sendResponseHeaders(405, -1);
      } else {
        send(exchange, isHead);
      }
    }
  }

  private void send(HttpExchange exchange, boolean isHead) throws IOException {
    var text = new ByteArrayOutputStream();
    format.write(text, metrics.registry().scrape());
    exchange.getResponseHeaders().set("Content-Type", format.getContentType());
    if (isHead) {
      exchange.getResponseHeaders().set("Content-Length", Integer.toString(text.size()));
      exchange.sendResponseHeaders(200, -1);
    } else {
      exchange.sendResponseHeaders(200, text.size());
      exchange.getResponseBody().write(text.toByteArray());
    }
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
