package dev.flotilla.zoo.model;

import dev.flotilla.settings.Setting;
import dev.flotilla.settings.Summary;

/**
 * VGG-16 with BatchNorm (Simonyan and Zisserman, 2014) for RGB images of at least 32×32 pixels,
 * with the parameter names and the start of torchvision's: 138,365,992 parameters for 1000 classes.
 *
 * @param classes number of classes
 * @param dropout fraction of hidden numbers that training sets to zero
 * @param hidden width of the classifier's two hidden layers
 * @param width channels of the first block
 */
@Summary("VGG-16 with BatchNorm for RGB images of at least 32x32, with torchvision's names.")
public record Vgg16Bn(
    @Setting(doc = "number of classes, at least 2") int classes,
    @Setting(doc = "fraction of hidden outputs set to zero in training, in [0, 1)") double dropout,
    @Setting(doc = "width of the two hidden layers, at least 1") int hidden,
    @Setting(doc = "channels of the first block, at least 1") int width)
    implements NetworkModel {

  /** Checks the settings. */
  public Vgg16Bn {
    new VggNetwork(true, classes, dropout, hidden, width);
  }

  /** Creates the published network for ImageNet's classes. */
  public Vgg16Bn() {
    this(VggNetwork.CLASSES);
  }

  /** Creates the published network for so many classes. */
  public Vgg16Bn(int classes) {
    this(classes, VggNetwork.DROPOUT, VggNetwork.HIDDEN, VggNetwork.WIDTH);
  }

  @Override
  public String name() {
    return "vgg16_bn";
  }

  @Override
  public Network network() {
    return new VggNetwork(true, classes, dropout, hidden, width);
  }
}
