package dev.flotilla.world;

import java.nio.file.Path;

/** The place where the ranks of a job find each other before the first collective. */
public sealed interface Rendezvous {

  /** No meeting point: one rank. */
  record None() implements Rendezvous {}

  /**
   * A file in a private folder that all ranks of one host see; opens no socket.
   *
   * @param file the file the ranks write to
   */
  record SharedFile(Path file) implements Rendezvous {}

  /**
   * A key-value store on one host that all ranks reach by TCP.
   *
   * @param host name or address of the host
   * @param port port of the store
   * @param hostedElsewhere whether another process serves the store, so that rank 0 connects too
   */
  record Tcp(String host, int port, boolean hostedElsewhere) implements Rendezvous {}
}
