package dev.flotilla.zoo.model;

import dev.flotilla.data.SampleForm;
import dev.flotilla.model.Classification;
import dev.flotilla.model.Model;
import dev.flotilla.model.Objective;
import dev.flotilla.model.Segment;
import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;
import dev.flotilla.settings.Summary;
import java.util.List;

/**
 * LeNet-5 for 32×32 grey images (LeCun et al., 1998), with rectifiers and maximum pooling as it is
 * written today: 61,706 parameters for ten classes.
 *
 * @param classes number of classes
 */
@Summary("LeNet-5 for grey images of 32x32 pixels.")
public record LeNet5(@Setting(doc = "number of classes, at least 2", def = "10") int classes)
    implements Model {

  /** Checks the settings. */
  public LeNet5 {
    Check.that(classes >= 2, "classes", "must be at least 2", classes).orThrow();
  }

  @Override
  public String name() {
    return "lenet5";
  }

  @Override
  public List<Segment> segments() {
    return List.of(
        new ConvolutionSegment("conv1", 1, 6, 5),
        new ConvolutionSegment("conv2", 6, 16, 5),
        new LinearSegment("fc1", 400, 120, false, 0),
        new LinearSegment("fc2", 120, 84, false, 0),
        new LinearSegment("fc3", 84, classes, true, 0));
  }

  @Override
  public Objective objective() {
    return new Classification();
  }

  @Override
  public boolean isRecordable() {
    return true;
  }

  @Override
  public void checkSamples(SampleForm form) {
    SampleCheck.images(form, "images of 1x32x32", LeNet5::isGreyAndSmall, classes);
  }

  private static boolean isGreyAndSmall(SampleForm.Images images) {
    return images.channels() == 1 && images.height() == 32 && images.width() == 32;
  }
}
