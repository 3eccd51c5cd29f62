package dev.flotilla.data;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Optional;
import java.util.stream.IntStream;

/** Some samples of a data set, which keep what is drawn at random for them. */
final class Subset implements Dataset {

  private final Dataset all;
  private final int[] chosen;

  Subset(Dataset all, int[] chosen) {
    this.all = all;
    this.chosen = chosen;
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
    return all.load(inAll(samples));
  }

  @Override
  public Batch load(int[] samples, long seed, long epoch) {
    return all.load(inAll(samples), seed, epoch);
  }

  @Override
  public Optional<BitSet> damaged() {
    return all.damaged()
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
  public int loadingThreads() {
    return all.loadingThreads();
  }

  @Override
  public boolean changesByEpoch() {
    return all.changesByEpoch();
  }

  @Override
  public boolean countsTokens() {
    return all.countsTokens();
  }

  @Override
  public int tokens(int sample) {
    return all.tokens(chosen[sample]);
  }

  @Override
  public int[] labels() {
    int[] labels = all.labels();
    return Arrays.stream(chosen).map(sample -> labels[sample]).toArray();
  }
}
