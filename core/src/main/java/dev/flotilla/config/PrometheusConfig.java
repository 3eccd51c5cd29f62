package dev.flotilla.config;

import dev.flotilla.settings.Check;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.Problem;
import dev.flotilla.settings.Setting;
import dev.flotilla.world.World;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.ServiceLoader;

/**
 * Where ranks serve metrics for Prometheus while they train.
 *
 * @param port of a host's first rank; its others take the ports behind. 0 for any that is free
 * @param host address to listen on
 */
public record PrometheusConfig(
    @Setting(
            doc =
                "Port of /metrics of a host's first rank; the others take the ports behind it. 0"
                    + " for any that is free.",
            def = "9464")
        int port,
    @Setting(
            doc = "Address to listen on; any other than this host's own opens it to the network.",
            def = "127.0.0.1",
            local = true)
        String host) {

  private static final String KEY = "prometheus.port";
  private static final int MOST = 65_535;

  /** Checks the port. */
  public PrometheusConfig {
    Check.that(port >= 0 && port <= MOST, "port", "must be from 0 to " + MOST, port)
        .and(!host.isBlank(), "host", "must not be empty", "'" + host + "'")
        .orThrow();
  }

  /** Returns what is wrong with the port for so many ranks on a host, if anything. */
  Optional<String> problem(int ranks) {
    return port + ranks - 1 > MOST
        ? Optional.of(
            "%d ranks on a host take the ports from %d on, but %d is the last there is"
                .formatted(ranks, port, MOST))
        : Optional.empty();
  }

  /** Returns what whoever opens it to the network should know. */
  Optional<String> warning() {
    boolean isOwn = host.equals("localhost") || isLoopback();
    return isOwn
        ? Optional.empty()
        : Optional.of(
            "prometheus.host %s: everybody who reaches this host can read the run's metrics"
                .formatted(host));
  }

  private boolean isLoopback() {
    try {
      return InetAddress.getByName(host).isLoopbackAddress();
    } catch (UnknownHostException unknown) {
      return false;
    }
  }

  /**
   * Checks that ranks of this host will find their ports free.
   *
   * @throws ConfigException if one is taken, or the address is none of this host
   */
  void requireFree(int ranks, Origin origin) {
    for (int rank = 0; port > 0 && rank < ranks; rank++) {
      try (var socket = new ServerSocket()) {
        socket.bind(new InetSocketAddress(InetAddress.getByName(host), port + rank));
      } catch (IOException failure) {
        throw unusable(port + rank, failure, origin);
      }
    }
  }

  /**
   * Opens the endpoint of a rank.
   *
   * @throws ConfigException if it cannot be opened
   */
  MetricsEndpoint open(World world, Origin origin) {
    int own = port == 0 ? 0 : port + world.localRank();
    var provider =
        ServiceLoader.load(MetricsEndpoint.Provider.class)
            .findFirst()
            .orElseThrow(
                () ->
                    problem(
                        origin,
                        "prometheus",
                        "needs the command line's jar on the class path",
                        "add the dependency dev.flotilla:flotilla-app"));
    try {
      return provider.open(host, own, world.rank());
    } catch (UncheckedIOException failure) {
      throw unusable(own, Objects.requireNonNull(failure.getCause()), origin);
    }
  }

  private ConfigException unusable(int taken, IOException failure, Origin origin) {
    return switch (failure) {
      case UnknownHostException _ ->
          problem(origin, "prometheus.host", "'%s' is unknown here".formatted(host), "127.0.0.1");
      case BindException busy when String.valueOf(busy.getMessage()).contains("in use") ->
          problem(
              origin,
              KEY,
              "port %d of %s is in use".formatted(taken, host),
              "give another one, or 0 for any that is free");
      default ->
          problem(
              origin,
              KEY,
              "cannot listen on %s port %d: %s".formatted(host, taken, failure.getMessage()),
              "give a port above 1023, and as host an address of this machine");
    };
  }

  private static ConfigException problem(Origin origin, String key, String message, String fix) {
    return new ConfigException(List.of(new Problem(origin.placeOf(key).text(), key, message, fix)));
  }
}
