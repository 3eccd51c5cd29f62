package dev.flotilla.collective;

import dev.flotilla.collective.CFunction.CError;
import dev.flotilla.world.Rendezvous;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.time.Duration;

/** The address where the store of a job listens. */
final class MasterAddress {

  private static final int LONGEST_ATTEMPT_MILLIS = 2_000;
  private static final String STRANGER = "something else answers there";
  private static final String NO_ANSWER = "no answer";

  private final String host;
  private final int port;
  private final InetAddress address;

  private MasterAddress(String host, int port, InetAddress address) {
    this.host = host;
    this.port = port;
    this.address = address;
  }

  /** Looks up the host; a name nobody knows is refused at once. */
  static MasterAddress resolve(Rendezvous.Tcp tcp) {
    try {
      return new MasterAddress(tcp.host(), tcp.port(), InetAddress.getByName(tcp.host()));
    } catch (UnknownHostException e) {
      throw new RendezvousException(
          "the master host '%s' is unknown here; check MASTER_ADDR (--master-addr)"
              .formatted(tcp.host()),
          e);
    }
  }

  InetAddress address() {
    return address;
  }

  int port() {
    return port;
  }

  @Override
  public String toString() {
    return host + ":" + port;
  }

  /**
   * Opens a socket for the store; only the master address is listened on, where that is possible.
   */
  int listen(boolean isOneHost) {
    try {
      return ListeningSocket.open(listenAddress(isOneHost), port);
    } catch (CError e) {
      throw new RendezvousException(refusal(e), e);
    }
  }

  private String refusal(CError error) {
    return switch (error.number()) {
      case CError.ADDRESS_IN_USE ->
          ("port %d on %s is in use (by another job, or by one that is still ending); choose"
                  + " another with MASTER_PORT (--master-port), or end that job")
              .formatted(port, host);
      case CError.PERMISSION_DENIED ->
          "port %d on %s may not be used; choose one of at least 1024 with MASTER_PORT"
              .formatted(port, host);
      case CError.ADDRESS_NOT_AVAILABLE ->
          "%s is not an address of this host; rank 0 must run on the host that MASTER_ADDR names"
              .formatted(host);
      default -> "cannot listen on %s: %s".formatted(this, error.getMessage());
    };
  }

  /**
   * A name may stand for an address that is translated on the way: such a store listens everywhere.
   */
  private InetAddress listenAddress(boolean isOneHost) {
    if (address.isLoopbackAddress()) {
      return isLocalNickname(isOneHost) ? everywhere() : address;
    }
    return isOfThisHost() ? address : everywhere();
  }

  /**
   * Tells whether the name means this host only because it is read here: many hosts know their own
   * name as a loopback address, where other hosts cannot reach them.
   */
  boolean isLocalNickname(boolean isOneHost) {
    boolean saysLoopback = host.equals("localhost") || host.matches("[0-9.]+|.*:.*");
    return address.isLoopbackAddress() && !isOneHost && !saysLoopback;
  }

  private boolean isOfThisHost() {
    try {
      return NetworkInterface.getByInetAddress(address) != null;
    } catch (SocketException e) {
      return false;
    }
  }

  private InetAddress everywhere() {
    try {
      return InetAddress.getByAddress(new byte[address.getAddress().length]);
    } catch (UnknownHostException e) {
      throw new IllegalStateException("an address of zeros is always known", e);
    }
  }

  /** Waits until somebody listens, so that native code never has to complain about a dead host. */
  void awaitListener(int rank, Duration timeout) {
    var deadline = Deadline.in(timeout);
    var problem = problemOfConnecting(deadline);
    while (!problem.isEmpty()) {
      if (deadline.hasPassed()) {
        throw new RendezvousException(nobodyThere(rank, deadline.elapsed(), problem));
      }
      deadline.pause();
      var latest = problemOfConnecting(deadline);
      // The last attempt may have had no time; what an earlier one saw says more.
      problem = latest.equals(NO_ANSWER) ? problem : latest;
    }
  }

  private String problemOfConnecting(Deadline deadline) {
    // Zero would mean to wait for ever.
    int limit = Math.clamp(deadline.left().toMillis(), 1, LONGEST_ATTEMPT_MILLIS);
    try (var socket = new Socket()) {
      socket.setSoTimeout(limit);
      socket.connect(new InetSocketAddress(address, port), limit);
      return StoreGreeting.isAnsweredBy(socket) ? "" : STRANGER;
    } catch (EOFException e) {
      return STRANGER;
    } catch (SocketTimeoutException e) {
      return NO_ANSWER;
    } catch (IOException e) {
      return String.valueOf(e.getMessage());
    }
  }

  private String nobodyThere(int rank, Duration waited, String problem) {
    return ("rank %d could not reach the master at %s within %s (%s); check that rank 0 runs there,"
            + " that MASTER_ADDR and MASTER_PORT are the same for all ranks, that no firewall is in"
            + " between, and, on hosts with several networks, GLOO_SOCKET_IFNAME")
        .formatted(rank, this, Deadline.seconds(waited), problem);
  }
}
