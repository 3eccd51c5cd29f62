package dev.flotilla.zoo.data;

import dev.flotilla.settings.ConfigException;
import java.util.BitSet;

/**
 * Reads images of a folder, and where wanted others in the place of damaged ones.
 *
 * <p>The next image of the class that can be read, in the order of names and from the last on to
 * the first, stands for a damaged one. So an epoch keeps its size, and who stands for whom is a
 * function of the files alone: the same on all ranks, in all epochs, and in a run that goes on. To
 * leave samples out instead, all files would have to be decoded before the first step.
 */
final class ReadableFiles {

  private static final System.Logger LOG = System.getLogger("dev.flotilla");

  private final LabelledFiles files;
  private final OnDamaged onDamaged;
  private final BitSet damaged = new BitSet();

  ReadableFiles(LabelledFiles files, OnDamaged onDamaged) {
    this.files = files;
    this.onDamaged = onDamaged;
  }

  /**
   * Decodes an image.
   *
   * @throws ConfigException if it is damaged and that ends the run, or no image of its class is
   *     left
   */
  Pixels read(int sample) {
    if (onDamaged == OnDamaged.STOP) {
      return Pixels.read(files.files().get(sample));
    }
    int next = sample;
    do {
      if (!isKnown(next)) {
        try {
          return Pixels.read(files.files().get(next));
        } catch (ConfigException wrong) {
          note(next, wrong);
        }
      }
      next = nextOfClass(next);
    } while (next != sample);
    throw DataProblem.of(
        files.folder().resolve(files.classes().get(files.labels().get(sample))),
        "no image of the class can be read",
        "repair its files");
  }

  private int nextOfClass(int sample) {
    int label = files.labels().get(sample);
    int next = sample + 1;
    if (next < files.labels().size() && files.labels().get(next) == label) {
      return next;
    }
    int first = sample;
    while (first > 0 && files.labels().get(first - 1) == label) {
      first--;
    }
    return first;
  }

  private synchronized boolean isKnown(int sample) {
    return damaged.get(sample);
  }

  private synchronized void note(int sample, ConfigException wrong) {
    if (!damaged.get(sample)) {
      damaged.set(sample);
      LOG.log(
          System.Logger.Level.WARNING,
          "another image of its class stands for a damaged one: {0}",
          wrong.getMessage());
    }
  }

  /** Returns the damaged images that were met so far. */
  synchronized BitSet damaged() {
    return (BitSet) damaged.clone();
  }
}
