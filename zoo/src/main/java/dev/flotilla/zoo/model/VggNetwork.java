package dev.flotilla.zoo.model;

import dev.flotilla.data.SampleForm;
import dev.flotilla.model.Classification;
import dev.flotilla.model.Objective;
import dev.flotilla.model.Segment;
import dev.flotilla.settings.Check;
import java.util.ArrayList;
import java.util.List;

/**
 * The segments of VGG-16 (Simonyan and Zisserman, 2014), with the names of torchvision's: five
 * blocks of convolutions, each ended by a maximum, and the classifier.
 *
 * @param hasNorms whether BatchNorm follows every convolution
 * @param hidden width of the classifier's two hidden layers
 * @param width channels of the first block
 */
record VggNetwork(boolean hasNorms, int classes, double dropout, int hidden, int width)
    implements Network {

  /** The published sizes, with BatchNorm or without. */
  static final int CLASSES = 1000;

  static final double DROPOUT = 0.5;
  static final int HIDDEN = 4096;
  static final int WIDTH = 64;

  private static final List<Integer> CONVOLUTIONS = List.of(2, 2, 3, 3, 3);
  private static final List<Integer> WIDTHS = List.of(1, 2, 4, 8, 8);
  private static final int LEAST_SIDE = 32;
  private static final int POOLED_SIDE = 7;
  private static final double DEVIATION = 0.01;

  VggNetwork {
    Check.that(classes >= 2, "classes", "must be at least 2", classes)
        .and(dropout >= 0 && dropout < 1, "dropout", "must be in [0, 1)", dropout)
        .and(hidden >= 1, "hidden", "must be at least 1", hidden)
        .and(width >= 1, "width", "must be at least 1", width)
        .orThrow();
  }

  @Override
  public List<Segment> segments() {
    List<Segment> segments = new ArrayList<>();
    long channels = 3;
    int index = 0;
    for (int block = 0; block < CONVOLUTIONS.size(); block++) {
      List<Layer> layers = new ArrayList<>();
      long outputs = (long) width * WIDTHS.get(block);
      for (int i = 0; i < CONVOLUTIONS.get(block); i++) {
        index = addConvolution(layers, index, channels, outputs);
        channels = outputs;
      }
      layers.add(Layers.maxPool(2, 2, 0));
      index++;
      segments.add(new LayerSegment("block" + (block + 1), new Layers(layers)));
    }
    segments.add(new LayerSegment("classifier", classifier(channels)));
    return segments;
  }

  /** Adds what torchvision counts as two or three modules, and returns the next one's number. */
  private int addConvolution(List<Layer> layers, int index, long inputs, long outputs) {
    layers.add(new Convolution("features." + index, inputs, outputs, 3, 1, true));
    if (hasNorms) {
      layers.add(new BatchNorm("features." + (index + 1), outputs, 1));
    }
    layers.add(Layers.rectifier());
    return index + (hasNorms ? 3 : 2);
  }

  private Layers classifier(long channels) {
    long inputs = channels * POOLED_SIDE * POOLED_SIDE;
    return Layers.of(
        Layers.averagePool(POOLED_SIDE),
        Layers.flatten(),
        Linear.gaussian("classifier.0", inputs, hidden, DEVIATION),
        Layers.rectifier(),
        Layers.dropout(dropout),
        Linear.gaussian("classifier.3", hidden, hidden, DEVIATION),
        Layers.rectifier(),
        Layers.dropout(dropout),
        Linear.gaussian("classifier.6", hidden, classes, DEVIATION));
  }

  @Override
  public Objective objective() {
    return new Classification();
  }

  @Override
  public void checkSamples(SampleForm form) {
    SampleCheck.images(
        form,
        "images of 3 channels and at least %1$dx%1$d pixels".formatted(LEAST_SIDE),
        images -> images.channels() == 3 && Math.min(images.height(), images.width()) >= LEAST_SIDE,
        classes);
  }
}
