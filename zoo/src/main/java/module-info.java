import dev.flotilla.config.CatalogueProvider;
import dev.flotilla.zoo.ZooCatalogue;
import dev.flotilla.zoo.table.TableFormat;

/** Models and data sets that people know. */
module dev.flotilla.zoo {
  requires static transitive org.jspecify;
  requires transitive dev.flotilla.core;
  requires ai.djl.tokenizers;
  requires de.siegmar.fastcsv;
  requires java.desktop;
  requires tools.jackson.databind;

  exports dev.flotilla.zoo;
  exports dev.flotilla.zoo.data;
  exports dev.flotilla.zoo.model;
  exports dev.flotilla.zoo.rows;
  exports dev.flotilla.zoo.table;

  // Recipes make settings by reflection.
  opens dev.flotilla.zoo.data to
      dev.flotilla.core;
  opens dev.flotilla.zoo.model to
      dev.flotilla.core;
  opens dev.flotilla.zoo.table to
      dev.flotilla.core;

  uses TableFormat;

  provides CatalogueProvider with
      ZooCatalogue;
}
