package dev.flotilla.launch.tls;

import java.util.List;

/**
 * What a launcher tells of a rank's port.
 *
 * @param host address of its door; empty for that of the first host, as everybody knows it
 * @param door port of its door
 * @param port the rank's port
 * @param fingerprint its certificate
 * @param network which loopback interface it has
 * @param others aliases of the hosts whose ranks want to connect
 */
record Offer(
    String host, int door, int port, String fingerprint, String network, List<String> others) {

  static Offer parse(String text) {
    String[] fields = text.split(" ", -1);
    return new Offer(
        fields[0],
        Integer.parseInt(fields[1]),
        Integer.parseInt(fields[2]),
        fields[3],
        fields[4],
        List.of(fields[5].split(",", -1)));
  }

  String format() {
    return String.join(
        " ", host, "" + door, "" + port, fingerprint, network, String.join(",", others));
  }
}
