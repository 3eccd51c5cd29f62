import dev.flotilla.app.MetricsServer;
import dev.flotilla.config.MetricsEndpoint;

/** The command line. */
module dev.flotilla.app {
  requires static org.jspecify;
  requires dev.flotilla.board;
  requires dev.flotilla.core;
  requires dev.flotilla.zoo;
  requires info.picocli;
  requires io.prometheus.metrics.core;
  requires io.prometheus.metrics.model;
  requires io.prometheus.writer.text;
  requires jdk.httpserver;
  requires tools.jackson.databind;

  opens dev.flotilla.app to
      info.picocli;

  provides MetricsEndpoint.Provider with
      MetricsServer.Provider;
}
