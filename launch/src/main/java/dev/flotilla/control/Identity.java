package dev.flotilla.control;

import java.util.random.RandomGenerator;

/**
 * Who connects.
 *
 * @param isHost whether it is the launcher of a host rather than a rank
 * @param number rank or number of the host
 * @param instance tells it from another that claims the same number: the process of a rank, a
 *     random number of a launcher
 * @param generation how often the job was restarted before
 */
record Identity(boolean isHost, int number, long instance, int generation) {

  static Identity of(Frame.Hello hello) {
    return new Identity(hello.isHost(), hello.number(), hello.instance(), hello.generation());
  }

  static Identity ofRank(int rank, int generation) {
    return new Identity(false, rank, ProcessHandle.current().pid(), generation);
  }

  static Identity ofHost(int node) {
    return new Identity(true, node, RandomGenerator.getDefault().nextLong(), 0);
  }

  Peer peer() {
    return isHost ? new Peer.Host(number) : new Peer.Rank(number);
  }
}
