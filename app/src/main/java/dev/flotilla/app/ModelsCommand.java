package dev.flotilla.app;

import dev.flotilla.config.Catalogue;
import dev.flotilla.config.CatalogueItem;
import dev.flotilla.model.Model;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.text.NearestName;
import dev.flotilla.world.ExitCodes;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Lists the models that recipes may name. */
@Command(
    name = "models",
    description = {
      "Lists the models that recipes may name, with parameters, sizes and keys;",
      "or one of them, with its segments."
    },
    footer = {"", "Example:", "  flotilla models resnet18"},
    mixinStandardHelpOptions = true)
final class ModelsCommand implements Callable<Integer> {

  private static final double MEGABYTE = 1e6;

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "NAME",
      description = "A model, to list its segments too.")
  @Nullable String name;

  @Option(names = "--json", description = "Prints JSON, and nothing else.")
  boolean json;

  @Override
  public Integer call() {
    Map<String, Object> all = new LinkedHashMap<>();
    for (var item : items()) {
      all.put(item.name(), facts(item));
      if (!json) {
        System.out.print(CatalogueText.of(item, sizes(item)));
        System.out.print(name == null ? "" : segments(item));
      }
    }
    if (json) {
      System.out.println(Json.pretty(all));
    }
    return ExitCodes.OK;
  }

  private List<CatalogueItem> items() {
    var items = CatalogueItem.list(Catalogue.installed(), Model.class);
    if (name == null) {
      return items;
    }
    var names = items.stream().map(CatalogueItem::name).toList();
    if (!names.contains(name)) {
      throw new ConfigException(
          "NAME",
          "unknown model '%s'%s (allowed: %s)"
              .formatted(name, NearestName.hint(name, names), String.join(", ", names)));
    }
    return items.stream().filter(item -> item.name().equals(name)).toList();
  }

  /** Returns a line for each segment, as recompute names them. */
  private static String segments(CatalogueItem item) {
    if (!(model(item) instanceof Model model)) {
      return "";
    }
    var text = new StringBuilder("  segments\n");
    for (var segment : model.segments()) {
      long parameters = segment.parameters().stream().mapToLong(it -> it.shape().elements()).sum();
      text.append(
          String.format(Locale.ROOT, "    %-30s %,d parameters%n", segment.name(), parameters));
    }
    return text.toString();
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
