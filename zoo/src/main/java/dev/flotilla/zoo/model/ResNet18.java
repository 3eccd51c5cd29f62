package dev.flotilla.zoo.model;

import dev.flotilla.settings.Setting;
import dev.flotilla.settings.Summary;
import java.util.List;

/**
 * ResNet-18 (He et al., 2015) for RGB images, with the parameter names and the start of
 * torchvision's: 11,689,512 parameters for 1000 classes.
 *
 * @param classes number of classes
 * @param stem how it begins: for large images or for those of CIFAR
 * @param normalization over the batch or over groups of channels
 * @param groups groups of channels, for {@code normalization: group}
 * @param zeroInitResidual whether every block starts as the identity
 * @param width channels of the first stage
 */
@Summary("ResNet-18 for RGB images, with torchvision's names.")
public record ResNet18(
    @Setting(doc = "number of classes, at least 2") int classes,
    @Setting(doc = "imagenet for large images, cifar for 32x32") Stem stem,
    @Setting(
            doc = "batch for BatchNorm, or group for GroupNorm, which does not depend on the batch")
        Normalization normalization,
    @Setting(doc = "groups of channels for normalization: group; must divide width") int groups,
    @Setting(doc = "start every block as the identity") boolean zeroInitResidual,
    @Setting(doc = "channels of the first stage, at least 1") int width)
    implements NetworkModel {

  /** Checks the settings. */
  public ResNet18 {
    network(classes, stem, normalization, groups, zeroInitResidual, width);
  }

  /** Creates the published network for ImageNet's classes. */
  public ResNet18() {
    this(ResidualNetwork.CLASSES);
  }

  /** Creates the published network for so many classes. */
  public ResNet18(int classes) {
    this(classes, Stem.IMAGENET);
  }

  private ResNet18(int classes, Stem stem) {
    this(classes, stem, Normalization.BATCH, ResidualNetwork.GROUPS, false, ResidualNetwork.WIDTH);
  }

  /** Creates the variant for images of 32×32 pixels. */
  public static ResNet18 forCifar(int classes) {
    return new ResNet18(classes, Stem.CIFAR);
  }

  private static ResidualNetwork network(
      int classes,
      Stem stem,
      Normalization normalization,
      int groups,
      boolean zeroInitResidual,
      int width) {
    return new ResidualNetwork(
        List.of(2, 2, 2, 2), false, classes, stem, normalization, groups, zeroInitResidual, width);
  }

  @Override
  public String name() {
    return "resnet18";
  }

  @Override
  public Network network() {
    return network(classes, stem, normalization, groups, zeroInitResidual, width);
  }
}
