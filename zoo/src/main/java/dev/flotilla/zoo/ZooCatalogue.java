package dev.flotilla.zoo;

import dev.flotilla.config.CatalogueProvider;
import dev.flotilla.data.DataSource;
import dev.flotilla.model.Model;
import dev.flotilla.zoo.data.Digits;
import dev.flotilla.zoo.data.Mnist;
import dev.flotilla.zoo.model.LeNet5;
import dev.flotilla.zoo.model.Mlp;
import java.util.Map;

/** The zoo's names, found by recipes through the service loader. */
public final class ZooCatalogue implements CatalogueProvider {

  @Override
  public Map<String, Class<? extends Model>> models() {
    return Map.of("lenet5", LeNet5.class, "mlp", Mlp.class);
  }

  @Override
  public Map<String, Class<? extends DataSource>> data() {
    return Map.of("digits", Digits.class, "mnist", Mnist.class);
  }
}
