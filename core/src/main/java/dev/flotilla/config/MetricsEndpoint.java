package dev.flotilla.config;

import dev.flotilla.report.EventSink;

/** A rank's metrics at an address, as Prometheus reads them. */
public interface MetricsEndpoint extends EventSink, AutoCloseable {

  /** Returns the URL. */
  String address();

  @Override
  void close();

  /**
   * Opens endpoints; found with {@link java.util.ServiceLoader}, since the library has no server.
   */
  interface Provider {

    /**
     * Serves the metrics of a rank.
     *
     * @param port 0 for any that is free
     * @throws java.io.UncheckedIOException if the address cannot be bound
     */
    MetricsEndpoint open(String host, int port, int rank);
  }
}
