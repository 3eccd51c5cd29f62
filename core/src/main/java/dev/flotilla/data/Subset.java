package dev.flotilla.data;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Optional;
import java.util.stream.IntStream;

/** Some samples of a data set, which keep what is drawn at random for them. */
final class Subset implements DerivedDataset {

  private final Dataset source;
  private final int[] chosen;

  Subset(Dataset source, int[] chosen) {
    this.source = source;
    this.chosen = chosen;
  }

  @Override
  public Dataset source() {
    return source;
  }

  @Override
  public int size() {
    return chosen.length;
  }

  private int[] inAll(int[] samples) {
    return Arrays.stream(samples).map(sample -> chosen[sample]).toArray();
  }

  @Override
  public Batch load(int[] samples) {
    return source.load(inAll(samples));
  }

  @Override
  public Batch load(int[] samples, long seed, long epoch) {
    return source.load(inAll(samples), seed, epoch);
  }

  @Override
  public Optional<BitSet> damaged() {
    return source
        .damaged()
        .map(
            damaged -> {
              var here = new BitSet();
              IntStream.range(0, chosen.length)
                  .filter(sample -> damaged.get(chosen[sample]))
                  .forEach(here::set);
              return here;
            });
  }

  @Override
  public int tokens(int sample) {
    return source.tokens(chosen[sample]);
  }

  @Override
  public int[] labels() {
    int[] labels = source.labels();
    return Arrays.stream(chosen).map(sample -> labels[sample]).toArray();
  }
}
