package dev.flotilla.launch.tls;

import dev.flotilla.control.JobKey;
import java.net.InetAddress;

/**
 * The loopback addresses that stand for the hosts of a job, each the same on all of them: where the
 * ranks of a host listen, and where others of its job reach them through their own launcher.
 *
 * <p>They lie in 127.64.0.0/10, of which Linux has all on every host. Which ones is a function of
 * the job's key, so that two jobs on one host hardly meet.
 *
 * @param first place of host 0 among them
 */
public record Aliases(int first) {

  private static final int COUNT = 1 << 22;
  private static final int PREFIX = 127 << 24 | 64 << 16;

  /** Returns the addresses of a job. */
  public static Aliases of(JobKey key) {
    return new Aliases(Math.floorMod(key.prove("loopback aliases").a(), COUNT));
  }

  /** Returns the address that stands for a host. */
  public InetAddress of(int host) {
    int address = PREFIX | (first + host) % COUNT;
    return InetAddress.ofLiteral(
        "%d.%d.%d.%d"
            .formatted(
                address >>> 24, address >>> 16 & 0xff, address >>> 8 & 0xff, address & 0xff));
  }
}
