package dev.flotilla.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.flotilla.data.DataSource;
import dev.flotilla.model.Model;
import dev.flotilla.settings.ConfigException;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CatalogueTests {

  @TempDir Path folder;

  /** Brings a model of the same name as another provider. */
  public static final class Rival implements CatalogueProvider {
    @Override
    public Map<String, Class<? extends Model>> models() {
      return Map.of("lenet5", TestCatalogue.Mlp.class);
    }
  }

  /** Brings a model of its own. */
  public static final class Own implements CatalogueProvider {
    @Override
    public Map<String, Class<? extends Model>> models() {
      return Map.of("own", TestCatalogue.Mlp.class);
    }
  }

  private static final class NotARecord implements TestCatalogue.FakeModel {}

  @Test
  void namesBothProvidersOfTheSameName() {
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> Catalogue.of(List.of(new TestCatalogue(), new Rival())))
        .withMessage(
            "catalogue: model 'lenet5' comes from both dev.flotilla.config.TestCatalogue and"
                + " dev.flotilla.config.CatalogueTests$Rival");
  }

  @Test
  void wantsSettingsRecords() {
    var provider =
        new CatalogueProvider() {
          @Override
          public Map<String, Class<? extends Model>> models() {
            return Map.of("x", NotARecord.class);
          }
        };
    assertThatIllegalStateException()
        .isThrownBy(() -> Catalogue.of(List.of(provider)))
        .withMessageContaining("must be a settings record");
  }

  @Test
  void findsProvidersOnTheClassPath() throws IOException {
    try (var loader = loaderWith(Own.class.getName())) {
      assertThat(Catalogue.installed(loader).types(Model.class)).containsKey("own");
    }
  }

  @Test
  void turnsABrokenProviderIntoAMessage() throws IOException {
    try (var loader = loaderWith("no.such.Provider")) {
      assertThatExceptionOfType(ConfigException.class)
          .isThrownBy(() -> Catalogue.installed(loader))
          .withMessageContaining("no.such.Provider");
    }
  }

  @Test
  void knowsTheNameOfAValue() {
    var catalogue = TestCatalogue.catalogue();
    assertThat(catalogue.nameOf(DataSource.class, new TestCatalogue.Digits())).isEqualTo("digits");
  }

  private URLClassLoader loaderWith(String provider) throws IOException {
    Path services = Files.createDirectories(folder.resolve("META-INF/services"));
    Files.writeString(services.resolve(CatalogueProvider.class.getName()), provider);
    return new URLClassLoader(
        new URL[] {folder.toUri().toURL()}, CatalogueTests.class.getClassLoader());
  }
}
