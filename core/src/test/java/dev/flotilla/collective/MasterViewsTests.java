package dev.flotilla.collective;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.world.Rendezvous;
import dev.flotilla.world.World;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class MasterViewsTests {

  /** A name that every host reads as a loopback address, and that does not say so. */
  private static final String NICKNAME = "LOCALHOST";

  @Test
  void masterHostListensWhereTheOthersSeekIt() {
    var store = new LocalKeyValueStore();
    store.set(Arrival.key(1), "192.0.2.7");
    assertThat(localAddress(store, NICKNAME)).isEqualTo("192.0.2.7");
  }

  @Test
  void hostsThatAllMeanThemselvesStayOnLoopback() {
    var store = new LocalKeyValueStore();
    store.set(Arrival.key(1), "127.0.0.1");
    assertThat(localAddress(store, NICKNAME)).isEqualTo("127.0.0.1");
  }

  @Test
  void plainLoopbackAddressIsTakenAtItsWord() {
    assertThat(localAddress(new LocalKeyValueStore(), "127.0.0.1")).isEqualTo("127.0.0.1");
  }

  private static String localAddress(KeyValueStore store, String host) {
    var tcp = new Rendezvous.Tcp(host, 29500, false);
    var world = new World(0, 2, 0, 1, 0, 2, tcp);
    return new MasterViews(store, world, MasterAddress.resolve(tcp))
        .localAddress(Duration.ofMillis(200))
        .getHostAddress();
  }
}
