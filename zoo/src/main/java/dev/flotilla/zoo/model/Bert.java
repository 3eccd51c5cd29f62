package dev.flotilla.zoo.model;

import dev.flotilla.data.SampleForm;
import dev.flotilla.model.Model;
import dev.flotilla.model.Objective;
import dev.flotilla.model.Segment;
import dev.flotilla.settings.Setting;
import dev.flotilla.settings.Summary;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
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
    @Setting(doc = "classes of a sequence, in place of the pre-training heads", def = "null")
        @Nullable Integer classes,
    @Setting(doc = "masked positions that one next-sentence term counts for", def = "20")
        double nspWeight)
    implements Model {

  /** Reads the file and checks the settings. */
  public Bert {
    new BertNetwork(BertConfigFile.read(config), classes, nspWeight);
  }

  private BertNetwork network() {
    return new BertNetwork(BertConfigFile.read(config), classes, nspWeight);
  }

  @Override
  public String name() {
    return "bert";
  }

  @Override
  public List<Segment> segments() {
    return network().segments();
  }

  @Override
  public Objective objective() {
    return network().objective();
  }

  @Override
  public Map<String, String> aliases() {
    return network().aliases();
  }

  @Override
  public Map<String, Object> configuration() {
    return network().configuration();
  }

  @Override
  public void checkSamples(SampleForm form) {
    network().checkSamples(form);
  }
}
