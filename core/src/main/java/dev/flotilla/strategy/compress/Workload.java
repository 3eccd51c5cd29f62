package dev.flotilla.strategy.compress;

import dev.flotilla.collective.Link;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;

/**
 * What an exchange is made of beside the link, as measured; predicts in every mode how much longer
 * it makes an update.
 *
 * <p>With B the backward that an exchange may hide behind, a + c S the time of an all-reduce and b
 * buckets, that is max(last bucket, b a + c S − B); with half the bytes, c S / 2 and the
 * conversion; compressed, the choice and what is sent by {@link LinkCost}, of which all but the
 * last bucket hides behind the choice of the next.
 *
 * @param backward B, in seconds; 0 if the exchange begins after it
 * @param buckets b
 * @param elements gradients
 * @param convertSeconds what rounding all gradients and widening them again takes
 * @param chooseSeconds what correction, choice and application take
 */
record Workload(
    double backward, int buckets, long elements, double convertSeconds, double chooseSeconds) {

  /** Returns the seconds that some modes add to an update. */
  Map<ExchangeMode, Double> predict(Set<ExchangeMode> modes, Link link, LinkCost cost) {
    Map<ExchangeMode, Double> seconds = new EnumMap<>(ExchangeMode.class);
    for (var mode : modes) {
      seconds.put(
          mode,
          switch (mode) {
            case DENSE -> exposed(link, wire(link, Float.BYTES, 1));
            case HALF -> exposed(link, wire(link, Short.BYTES, 2) + convertSeconds);
            case SPARSE -> chooseSeconds + sparseWire(link, cost);
          });
    }
    return seconds;
  }

  private double wire(Link link, int bytesPerElement, int collectives) {
    return link.latency() * buckets * collectives
        + link.secondsPerByte() * elements * bytesPerElement;
  }

  private double exposed(Link link, double wire) {
    double last = link.latency() + (wire - link.latency()) / Math.max(4, buckets);
    return backward == 0 ? wire : Math.max(Math.min(last, wire), wire - backward);
  }

  private double sparseWire(Link link, LinkCost cost) {
    double wire = link.secondsPerByteSent(cost.ranks()) * cost.sparseBytes();
    double hidden = chooseSeconds * (buckets - 1) / buckets;
    // A vote, the small parameters, and the messages of the last bucket.
    return 3 * link.latency() + Math.max(wire / buckets, wire - hidden);
  }
}
