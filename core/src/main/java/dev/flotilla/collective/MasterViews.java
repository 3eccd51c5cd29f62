package dev.flotilla.collective;

import dev.flotilla.world.World;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Collection;

/**
 * As what address each rank knows the master.
 *
 * <p>Ranks on the master's own host may know its name as a loopback address. They listen on the
 * address by which the other hosts know it.
 */
final class MasterViews {

  private final KeyValueStore store;
  private final World world;
  private final MasterAddress master;

  /** Puts up how this rank sees the master. */
  MasterViews(KeyValueStore store, World world, MasterAddress master) {
    this.store = store;
    this.world = world;
    this.master = master;
    store.set(Arrival.key(world.rank()), master.address().getHostAddress());
  }

  /** Returns the address of this host that the other ranks reach. */
  InetAddress localAddress(Duration timeout) {
    if (!master.isLocalNickname(world.isOneHost())) {
      return LocalAddress.towards(master);
    }
    var arrival = new Arrival(store, world.size());
    arrival.await(timeout);
    return firstBeyondLoopback(arrival.byRank().values());
  }

  private InetAddress firstBeyondLoopback(Collection<String> addresses) {
    return addresses.stream()
        .map(MasterViews::parse)
        .filter(address -> !address.isLoopbackAddress())
        .findFirst()
        .orElseGet(master::address);
  }

  private static InetAddress parse(String address) {
    try {
      return InetAddress.getByName(address);
    } catch (UnknownHostException e) {
      throw new IllegalStateException("a rank has put up no address: " + address, e);
    }
  }
}
