package dev.flotilla.app;

import dev.flotilla.config.Catalogue;
import dev.flotilla.config.CatalogueItem;
import dev.flotilla.data.DataSource;
import dev.flotilla.world.ExitCodes;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Lists the data that recipes may name. */
@Command(
    name = "data",
    description = "Lists the data that recipes may name, with sizes and keys.",
    footer = {"", "Example:", "  flotilla data"},
    mixinStandardHelpOptions = true)
final class DataCommand implements Callable<Integer> {

  @Option(names = "--json", description = "Prints JSON, and nothing else.")
  boolean json;

  @Override
  public Integer call() {
    Map<String, Object> all = new LinkedHashMap<>();
    for (var item : CatalogueItem.list(Catalogue.installed(), DataSource.class)) {
      all.put(item.name(), CatalogueText.facts(item));
      if (!json) {
        System.out.print(CatalogueText.of(item, ""));
      }
    }
    if (json) {
      System.out.println(Json.pretty(all));
    }
    return ExitCodes.OK;
  }
}
