package dev.flotilla.launch.tls;

import dev.flotilla.control.Hub;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;

/** Where this launcher stands for ranks of other hosts, on its own loopback. */
final class Forwarders {

  /** Gloo calls once, and takes a lost connection for a lost rank. */
  private static final int TRIES = 10;

  private final SecureChannel channel;
  private final Tunnel.All tunnels;
  private final ScheduledExecutorService clock;
  private final Hub hub;
  private final Map<String, Forwarder> open = new HashMap<>();

  Forwarders(SecureChannel channel, Tunnel.All tunnels, ScheduledExecutorService clock, Hub hub) {
    this.channel = channel;
    this.tunnels = tunnels;
    this.clock = clock;
    this.hub = hub;
  }

  /**
   * Listens in place of a rank.
   *
   * @param id of the rank's request
   * @param alias what stands for its host
   * @param host where its launcher is reached
   * @param target what its launcher calls it
   * @throws IOException if its port is taken here
   */
  void listen(String id, String alias, Offer offer, String host, String target) throws IOException {
    var server =
        ServerSocketChannel.open()
            .bind(new InetSocketAddress(InetAddress.ofLiteral(alias), offer.port()));
    var to = new Caller.Destination(host, offer.door(), target, Optional.of(offer.fingerprint()));
    open.put(
        id,
        Forwarder.start(
            server,
            new Caller(channel, tunnels, clock),
            to,
            TRIES,
            failure ->
                hub.warn(
                    "no secure connection to %s: %s".formatted(host, TlsTrouble.reason(failure)))));
  }

  void end(String id) {
    Forwarder forwarder = open.remove(id);
    if (forwarder != null) {
      forwarder.close();
    }
  }

  void endAll() {
    open.values().forEach(Forwarder::close);
    open.clear();
  }
}
