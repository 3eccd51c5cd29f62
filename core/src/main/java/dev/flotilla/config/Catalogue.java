package dev.flotilla.config;

import dev.flotilla.data.DataSource;
import dev.flotilla.metric.Metric;
import dev.flotilla.model.Model;
import dev.flotilla.model.Objective;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.optim.Schedule;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.Remedy;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.StrategyChoice;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The names a recipe may use for models, data, optimizers, schedules, techniques and metrics. */
public final class Catalogue {

  private final Map<Class<?>, Kind> kinds = new HashMap<>();
  private final Map<String, Class<? extends StrategyChoice>> choices = BuiltIn.choices();

  /** Names the settings of techniques to those who write hints. */
  public static final class Names implements Remedy.Names {

    @Override
    public Map<String, Class<?>> settings() {
      Map<String, Class<?>> settings = new TreeMap<>(BuiltIn.choices());
      settings.putAll(installedOrBuiltIn().types(Strategy.class));
      return settings;
    }

    /** A hint must not fail, and hide what it is about. */
    private static Catalogue installedOrBuiltIn() {
      try {
        return installed();
      } catch (ConfigException brokenProvider) {
        return of(List.of(new BuiltIn()));
      }
    }
  }

  /** Settings records of one kind by name, with the class that brought each. */
  private record Kind(
      String word,
      NavigableMap<String, Class<? extends Record>> types,
      Map<String, Class<?>> providers) {

    private void add(Map<String, ? extends Class<?>> more, Class<?> provider) {
      more.forEach((name, type) -> add(name, type, provider));
    }

    private void add(String name, Class<?> type, Class<?> provider) {
      if (!type.isRecord()) {
        String message = "%s of %s must be a settings record".formatted(type, provider.getName());
        throw new IllegalStateException(message);
      }
      Class<?> first = providers.putIfAbsent(name, provider);
      if (first != null) {
        String both = first.getName() + " and " + provider.getName();
        throw new ConfigException("catalogue", word + " '" + name + "' comes from both " + both);
      }
      types.put(name, type.asSubclass(Record.class));
    }
  }

  private Catalogue(List<? extends CatalogueProvider> providers) {
    kinds.put(Model.class, kind("model"));
    kinds.put(Objective.class, kind("objective"));
    kinds.put(DataSource.class, kind("data source"));
    kinds.put(Optimizer.class, kind("optimizer"));
    kinds.put(Schedule.class, kind("schedule"));
    kinds.put(Strategy.class, kind("technique"));
    kinds.put(Metric.class, kind("metric"));
    providers.forEach(this::add);
  }

  /**
   * Returns what the library and the class path offer.
   *
   * @throws ConfigException if two providers use the same name, or a provider cannot be made
   */
  public static Catalogue installed() {
    return installed(Thread.currentThread().getContextClassLoader());
  }

  static Catalogue installed(@Nullable ClassLoader loader) {
    List<CatalogueProvider> providers = new ArrayList<>();
    providers.add(new BuiltIn());
    try {
      ServiceLoader.load(CatalogueProvider.class, loader).forEach(providers::add);
    } catch (ServiceConfigurationError e) {
      throw new ConfigException("catalogue", String.valueOf(e.getMessage()));
    }
    return of(providers);
  }

  /** Returns what the given providers offer, and nothing else. */
  public static Catalogue of(List<? extends CatalogueProvider> providers) {
    return new Catalogue(providers);
  }

  /** Returns the settings records of one kind, by name. */
  public NavigableMap<String, Class<? extends Record>> types(Class<?> kind) {
    return Collections.unmodifiableNavigableMap(known(kind).types());
  }

  /** Returns the name of a value of the given kind. */
  public String nameOf(Class<?> kind, Object value) {
    return known(kind).types().entrySet().stream()
        .filter(entry -> entry.getValue() == value.getClass())
        .map(Map.Entry::getKey)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException(value.getClass() + " has no name"));
  }

  /** Returns the word for a kind, for example "model". */
  String word(Class<?> kind) {
    return known(kind).word();
  }

  /** Returns the type of a key's values, which is the catalogue's to say where it is a choice. */
  Type typeOf(SettingsKey key) {
    if (key.type() != StrategyChoice.class) {
      return key.type();
    }
    return Objects.requireNonNull(choices.get(key.name()), key.name() + " is no choice");
  }

  /** Tells whether values of a type are chosen by name. */
  boolean hasKind(Type type) {
    return type instanceof Class<?> kind && kinds.containsKey(kind);
  }

  /** Tells whether a list of a kind has an order, and may hold a name more than once. */
  boolean isOrdered(Type kind) {
    return kind == Metric.class;
  }

  private Kind known(Class<?> kind) {
    Kind known = kinds.get(kind);
    if (known == null) {
      throw new IllegalArgumentException(kind + " is not chosen by name");
    }
    return known;
  }

  private void add(CatalogueProvider provider) {
    Class<?> source = provider.getClass();
    known(Model.class).add(provider.models(), source);
    known(Objective.class).add(provider.objectives(), source);
    known(DataSource.class).add(provider.data(), source);
    known(Optimizer.class).add(provider.optimizers(), source);
    known(Schedule.class).add(provider.schedules(), source);
    known(Strategy.class).add(provider.techniques(), source);
    known(Metric.class).add(provider.metrics(), source);
  }

  private static Kind kind(String word) {
    return new Kind(word, new TreeMap<>(), new HashMap<>());
  }
}
