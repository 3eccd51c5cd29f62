package dev.flotilla.app;

import dev.flotilla.config.Catalogue;
import dev.flotilla.config.CatalogueItem;
import dev.flotilla.model.Model;
import dev.flotilla.world.ExitCodes;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Lists the models that recipes may name. */
@Command(
    name = "models",
    description = "Lists the models that recipes may name, with parameters, sizes and keys.",
    mixinStandardHelpOptions = true)
final class ModelsCommand implements Callable<Integer> {

  private static final double MEGABYTE = 1e6;

  @Option(names = "--json", description = "Prints JSON, and nothing else.")
  boolean json;

  @Override
  public Integer call() {
    Map<String, Object> all = new LinkedHashMap<>();
    for (var item : CatalogueItem.list(Catalogue.installed(), Model.class)) {
      all.put(item.name(), facts(item));
      if (!json) {
        System.out.print(CatalogueText.of(item, sizes(item)));
      }
    }
    if (json) {
      System.out.println(Json.pretty(all));
    }
    return ExitCodes.OK;
  }

  private static String sizes(CatalogueItem item) {
    return model(item) instanceof Model model
        ? String.format(
            Locale.ROOT,
            "%,d parameters, %.1f MB, %d segments",
            model.parameterCount(),
            bytes(model) / MEGABYTE,
            model.segments().size())
        : "size depends on its keys";
  }

  private static Object model(CatalogueItem item) {
    return item.byDefault().<Object>map(value -> value).orElse("");
  }

  private static long bytes(Model model) {
    return Float.BYTES * model.parameterCount();
  }

  private static Map<String, Object> facts(CatalogueItem item) {
    Map<String, Object> facts = CatalogueText.facts(item);
    if (model(item) instanceof Model model) {
      facts.put("parameters", model.parameterCount());
      facts.put("bytes", bytes(model));
      facts.put("segments", model.segments().size());
    }
    return facts;
  }
}
