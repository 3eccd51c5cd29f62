package dev.flotilla.control;

/** Somebody at the other end of a launcher's control channel. */
public sealed interface Peer {

  /**
   * A rank of this host.
   *
   * @param number its rank
   */
  record Rank(int number) implements Peer {}

  /**
   * The launcher of another host.
   *
   * @param number the host's number
   */
  record Host(int number) implements Peer {}
}
