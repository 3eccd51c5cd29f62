package dev.flotilla.zoo.model;

import dev.flotilla.data.SampleForm;
import dev.flotilla.model.Classification;
import dev.flotilla.model.Objective;
import dev.flotilla.model.Segment;
import dev.flotilla.settings.Check;
import java.util.ArrayList;
import java.util.List;

/**
 * The segments of a residual network (He et al., 2015), with the names of torchvision's: a stem,
 * one segment per block in four stages, and a head.
 *
 * @param blocks blocks of each stage
 * @param isDeep whether blocks have three convolutions, the last one four times as wide, instead of
 *     two
 */
record ResidualNetwork(
    List<Integer> blocks,
    boolean isDeep,
    int classes,
    Stem stem,
    Normalization normalization,
    int groups,
    boolean zeroInitResidual,
    int width)
    implements Network {

  /** The published sizes, which all depths have in common. */
  static final int CLASSES = 1000;

  static final int GROUPS = 32;
  static final int WIDTH = 64;

  ResidualNetwork {
    boolean isDivisible =
        normalization == Normalization.BATCH || (groups >= 1 && width % groups == 0);
    Check.that(classes >= 2, "classes", "must be at least 2", classes)
        .and(width >= 1, "width", "must be at least 1", width)
        .and(isDivisible, "groups", "must divide width " + width, groups)
        .orThrow();
  }

  @Override
  public boolean isRecordable() {
    return true;
  }

  @Override
  public List<Segment> segments() {
    List<Segment> segments = new ArrayList<>();
    segments.add(new LayerSegment("stem", begin()));
    long channels = width;
    for (int stage = 1; stage <= blocks.size(); stage++) {
      for (int block = 0; block < blocks.get(stage - 1); block++) {
        segments.add(block(stage, block, channels));
        channels = outputs(stage);
      }
    }
    var head = Layers.of(Layers.averagePool(1), Layers.flatten(), fc(channels));
    segments.add(new LayerSegment("head", head));
    return segments;
  }

  private Layers begin() {
    return switch (stem) {
      case IMAGENET ->
          Layers.of(
              new Convolution("conv1", 3, width, 7, 2, false),
              norm("bn1", width, 1),
              Layers.rectifier(),
              Layers.maxPool(3, 2, 1));
      case CIFAR ->
          Layers.of(
              new Convolution("conv1", 3, width, 3, 1, false),
              norm("bn1", width, 1),
              Layers.rectifier());
    };
  }

  private Linear fc(long channels) {
    return Linear.byDefault("fc", channels, classes);
  }

  private long inner(int stage) {
    return (long) width << (stage - 1);
  }

  private long outputs(int stage) {
    return inner(stage) * (isDeep ? 4 : 1);
  }

  private Segment block(int stage, int block, long inputs) {
    String name = "layer%d.%d".formatted(stage, block);
    long stride = stage > 1 && block == 0 ? 2 : 1;
    long outputs = outputs(stage);
    var main = isDeep ? deep(name, inputs, stage, stride) : shallow(name, inputs, stage, stride);
    boolean fits = stride == 1 && inputs == outputs;
    return new ResidualSegment(
        name, main, fits ? Layers.of() : shortcut(name, inputs, outputs, stride));
  }

  private Layers shallow(String name, long inputs, int stage, long stride) {
    long channels = inner(stage);
    return Layers.of(
        new Convolution(name + ".conv1", inputs, channels, 3, stride, false),
        norm(name + ".bn1", channels, 1),
        Layers.rectifier(),
        new Convolution(name + ".conv2", channels, channels, 3, 1, false),
        norm(name + ".bn2", channels, lastScale()));
  }

  private Layers deep(String name, long inputs, int stage, long stride) {
    long channels = inner(stage);
    return Layers.of(
        new Convolution(name + ".conv1", inputs, channels, 1, 1, false),
        norm(name + ".bn1", channels, 1),
        Layers.rectifier(),
        new Convolution(name + ".conv2", channels, channels, 3, stride, false),
        norm(name + ".bn2", channels, 1),
        Layers.rectifier(),
        new Convolution(name + ".conv3", channels, outputs(stage), 1, 1, false),
        norm(name + ".bn3", outputs(stage), lastScale()));
  }

  private Layers shortcut(String name, long inputs, long outputs, long stride) {
    return Layers.of(
        new Convolution(name + ".downsample.0", inputs, outputs, 1, stride, false),
        norm(name + ".downsample.1", outputs, 1));
  }

  private double lastScale() {
    return zeroInitResidual ? 0 : 1;
  }

  private Layer norm(String name, long channels, double scale) {
    return switch (normalization) {
      case BATCH -> new BatchNorm(name, channels, scale);
      case GROUP -> new GroupNorm(name, channels, groups, scale);
    };
  }

  @Override
  public Objective objective() {
    return new Classification();
  }

  @Override
  public void checkSamples(SampleForm form) {
    SampleCheck.images(form, "images of 3 channels", images -> images.channels() == 3, classes);
  }
}
