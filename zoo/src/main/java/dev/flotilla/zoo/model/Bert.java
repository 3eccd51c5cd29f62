package dev.flotilla.zoo.model;

import dev.flotilla.settings.Setting;
import dev.flotilla.settings.Summary;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A BERT of the sizes in a {@code config.json}, as it lies beside published weights.
 *
 * @param config the file
 * @param classes classes of a sequence; null for the pre-training heads
 * @param nspWeight masked positions that a next-sentence term counts for, see {@link
 *     BertPretraining}
 */
@Summary("BERT of the sizes in a config.json; pre-training heads, or a classifier of sequences.")
public record Bert(
    @Setting(doc = "a config.json as Hugging Face writes it") Path config,
    @Setting(doc = "number of classes of a sequence; none for the pre-training heads", def = "null")
        @Nullable Integer classes,
    @Setting(
            doc = "weight of a next-sentence term, in masked positions",
            def = "" + BertNetwork.NSP_WEIGHT)
        double nspWeight)
    implements NetworkModel {

  /** Reads the file and checks the settings. */
  public Bert {
    new BertNetwork(BertConfigFile.read(config), classes, nspWeight);
  }

  @Override
  public Network network() {
    return new BertNetwork(BertConfigFile.read(config), classes, nspWeight);
  }

  @Override
  public String name() {
    return "bert";
  }
}
