package dev.flotilla.control;

/**
 * Who connects.
 *
 * @param isHost whether it is the launcher of a host rather than a rank
 * @param number rank or number of the host
 * @param pid its process
 * @param generation how often the job was restarted before
 */
record Identity(boolean isHost, int number, long pid, int generation) {

  static Identity of(Frame.Hello hello) {
    return new Identity(hello.isHost(), hello.number(), hello.pid(), hello.generation());
  }

  static Identity ofRank(int rank, int generation) {
    return new Identity(false, rank, ProcessHandle.current().pid(), generation);
  }

  static Identity ofHost(int node) {
    return new Identity(true, node, ProcessHandle.current().pid(), 0);
  }

  Peer peer() {
    return isHost ? new Peer.Host(number) : new Peer.Rank(number);
  }
}
