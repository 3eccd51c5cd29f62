package dev.flotilla.app;

import dev.flotilla.settings.ConfigException;
import dev.flotilla.text.NearestName;
import dev.flotilla.world.ExitCodes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Lists and copies the recipes that come with the command line. */
@Command(
    name = "examples",
    description = "Lists ready recipes, one for each technique; or copies the one that is named.",
    footer = {"", "Example:", "  flotilla examples gradient-merge --to my-recipe.yaml"},
    mixinStandardHelpOptions = true)
final class ExamplesCommand implements Callable<Integer> {

  private static final Path STANDARD_OUTPUT = Path.of("-");

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "NAME",
      description = "The recipe to copy; without one, all are listed.")
  @Nullable String name;

  @Option(
      names = "--to",
      paramLabel = "FILE",
      description = "Where to copy it to, by default NAME.yaml; - prints it. Overwrites nothing.")
  @Nullable Path to;

  @Override
  public Integer call() {
    if (name == null) {
      if (to != null) {
        throw new ConfigException(
            "--to", "needs the name of a recipe: flotilla examples NAME --to FILE");
      }
      System.out.print(list());
    } else {
      copy(recipe(name));
    }
    return ExitCodes.OK;
  }

  static String list() {
    var text = new StringBuilder();
    for (var recipe : ExampleRecipe.ALL) {
      text.append("%-18s %s\n".formatted(recipe.name(), recipe.title()));
    }
    return text.append("flotilla examples NAME copies one to NAME.yaml.\n").toString();
  }

  private static ExampleRecipe recipe(String name) {
    var names = ExampleRecipe.ALL.stream().map(ExampleRecipe::name).toList();
    String wanted = name.replace('_', '-');
    return ExampleRecipe.ALL.stream()
        .filter(recipe -> recipe.name().equals(wanted))
        .findFirst()
        .orElseThrow(
            () ->
                new ConfigException(
                    "examples",
                    "there is no recipe '%s'%s; there are %s"
                        .formatted(
                            name,
                            NearestName.of(wanted, names)
                                .map("; did you mean '%s'?"::formatted)
                                .orElse(""),
                            String.join(", ", names))));
  }

  private void copy(ExampleRecipe recipe) {
    if (STANDARD_OUTPUT.equals(to)) {
      System.out.print(recipe.text());
      return;
    }
    var file = to == null ? Path.of(recipe.name() + ".yaml") : to;
    var target = Files.isDirectory(file) ? file.resolve(recipe.name() + ".yaml") : file;
    try {
      Files.writeString(target, recipe.text(), StandardOpenOption.CREATE_NEW);
    } catch (FileAlreadyExistsException exists) {
      throw new ConfigException(
          "--to", target + " exists already; give another file with --to, or remove it first");
    } catch (NoSuchFileException nowhere) {
      throw new ConfigException("--to", "there is no folder for " + target + "; make it first");
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot write " + target, failure);
    }
    System.out.println(
        "wrote "
            + target
            + "; train it with "
            + recipe.command().replace(recipe.name() + ".yaml", target.toString()));
  }
}
