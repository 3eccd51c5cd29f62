package dev.flotilla.zoo.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.flotilla.data.DataSource;
import dev.flotilla.data.SampleForm;
import dev.flotilla.data.SampleForm.Images;
import dev.flotilla.data.SampleForm.Tokens;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Model;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.zoo.data.Digits;
import dev.flotilla.zoo.data.SyntheticImages;
import dev.flotilla.zoo.data.SyntheticTokens;
import dev.flotilla.zoo.data.TextTask;
import java.util.List;
import org.junit.jupiter.api.Test;

final class SampleCheckTests {

  private static final Images DIGITS = new Images(1, 32, 32, 10);
  private static final Tokens TEXT = new Tokens(30522, 128, 0);

  private static void refuses(Model model, SampleForm form, String... problems) {
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> model.checkSamples(form))
        .withMessage(String.join("\n", problems));
  }

  @Test
  void takesWhatFits() {
    new LeNet5(10).checkSamples(DIGITS);
    new Mlp(1024, List.of(8), 12).checkSamples(DIGITS);
    new ResNet18(1000).checkSamples(new Images(3, 224, 224, 1000));
    ResNet50.forCifar(10).checkSamples(new Images(3, 32, 32, 10));
    new Vgg16(10).checkSamples(new Images(3, 32, 32, 10));
    new BertTiny().checkSamples(TEXT);
    new BertTiny(3, 20, 30522, 128, 2, 2, 512, 512, 0.1, 0.1)
        .checkSamples(new Tokens(30522, 512, 3));
  }

  @Test
  void namesTheShapesThatDoNotFit() {
    refuses(
        new LeNet5(10),
        new Images(3, 32, 32, 10),
        "takes images of 1x32x32, but the data gives images of 3x32x32");
    refuses(
        new ResNet18(1000),
        DIGITS,
        "takes images of 3 channels, but the data gives images of 1x32x32");
    refuses(
        new Vgg16Bn(10),
        new Images(3, 31, 64, 10),
        "takes images of 3 channels and at least 32x32 pixels, but the data gives images of"
            + " 3x31x64");
    refuses(
        new LeNet5(10),
        TEXT,
        "takes images of 1x32x32, but the data gives sequences of tokens for pre-training");
    refuses(
        new BertTiny(), DIGITS, "takes sequences of tokens, but the data gives images of 1x32x32");
  }

  @Test
  void namesEveryKeyThatDoesNotFit() {
    refuses(
        new Mlp(784, List.of(8), 5),
        DIGITS,
        "classes: must be at least 10, the classes of the data, but was 5",
        "inputs: must be 1024, the numbers of images of 1x32x32 that the data gives, but was 784");
    refuses(
        new BertTiny(null, 20, 100, 128, 2, 2, 512, 64, 0.1, 0.1),
        new Tokens(101, 65, 2),
        "classes: must be stated, since the data is for classification of 2 classes",
        "vocab_size: must be at least 101, the tokens of the data, but was 100",
        "max_position_embeddings: must be at least 65, the longest sequence that the data may have,"
            + " but was 64");
    refuses(
        new BertTiny(3, 20, 30522, 128, 2, 2, 512, 512, 0.1, 0.1),
        TEXT,
        "classes: must not be stated, since the data is for pre-training");
  }

  @Test
  void dataStatesTheFormThatItsBatchesHave() {
    assertImages(new Digits());
    assertImages(new SyntheticImages(2, 5, 3, 7, 1));
    var tokens = new SyntheticTokens(50, 9, 7, 1, TextTask.CLASSIFICATION, 3);
    try (var _ = TensorScope.open()) {
      var form = (Tokens) tokens.form().orElseThrow();
      assertThat(form).isEqualTo(new Tokens(50, 9, 3));
      assertThat(tokens.train().load(new int[] {0}).inputs().getFirst().size(1)).isEqualTo(9);
    }
  }

  private static void assertImages(DataSource data) {
    try (var _ = TensorScope.open()) {
      var form = (Images) data.form().orElseThrow();
      var batch = data.train().load(new int[] {0, 1});
      assertThat(batch.inputs().getFirst().shape())
          .containsExactly(2, form.channels(), form.height(), form.width());
      assertThat(data.trainingSize()).hasValue(data.train().size());
    }
  }
}
