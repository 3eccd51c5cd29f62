package dev.flotilla.zoo.data;

import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;

/**
 * What training does to images at random, beyond cutting and mirroring: colour jitter and random
 * erasing as torchvision has them, mixup (Zhang et al., 2017) and CutMix (Yun et al., 2019).
 *
 * <p>All of it is a function of seed, epoch and sample. So the partner that a sample is mixed with
 * comes from the whole data, and λ ~ Beta(α, α) is drawn for each sample: neither depends on which
 * samples are in a batch together. With both, each sample takes one of them.
 *
 * @param brightness a factor from [max(0, 1 − b), 1 + b] on all channels
 * @param contrast as much away from, or towards, the image's mean grey
 * @param saturation as much away from, or towards, each pixel's grey
 * @param hue a turn of the colours by up to so much of a circle
 * @param erasing probability that a rectangle of 2 % to 33 % of the image becomes the mean colour
 * @param mixup α of images that are added, λ of one and 1 − λ of another; 0 for none
 * @param cutmix α of images of which a rectangle of share 1 − λ comes from another; 0 for none
 */
public record ImageAugmentation(
    @Setting(doc = "Jitter of brightness, a factor from 1 - x to 1 + x.", def = "0")
        double brightness,
    @Setting(doc = "Jitter of contrast, a factor from 1 - x to 1 + x.", def = "0") double contrast,
    @Setting(doc = "Jitter of saturation, a factor from 1 - x to 1 + x.", def = "0")
        double saturation,
    @Setting(doc = "Jitter of hue, up to so much of a circle, in [0, 0.5].", def = "0") double hue,
    @Setting(doc = "Probability that a rectangle is erased, in [0, 1].", def = "0") double erasing,
    @Setting(doc = "Mixup: alpha of Beta(alpha, alpha); 0 for none.", def = "0") double mixup,
    @Setting(doc = "CutMix: alpha of Beta(alpha, alpha); 0 for none.", def = "0") double cutmix) {

  static final ImageAugmentation NONE = new ImageAugmentation(0, 0, 0, 0, 0, 0, 0);

  /** Checks the settings. */
  public ImageAugmentation {
    Check.that(isFactor(brightness), "brightness", "must be at least 0", brightness)
        .and(isFactor(contrast), "contrast", "must be at least 0", contrast)
        .and(isFactor(saturation), "saturation", "must be at least 0", saturation)
        .and(hue >= 0 && hue <= 0.5, "hue", "must be in [0, 0.5]", hue)
        .and(erasing >= 0 && erasing <= 1, "erasing", "must be in [0, 1]", erasing)
        .and(isFactor(mixup), "mixup", "must be at least 0", mixup)
        .and(isFactor(cutmix), "cutmix", "must be at least 0", cutmix)
        .orThrow();
  }

  private static boolean isFactor(double value) {
    return value >= 0 && Double.isFinite(value);
  }

  boolean mixes() {
    return mixup > 0 || cutmix > 0;
  }

  boolean changesColours() {
    return brightness > 0 || contrast > 0 || saturation > 0 || hue > 0;
  }
}
