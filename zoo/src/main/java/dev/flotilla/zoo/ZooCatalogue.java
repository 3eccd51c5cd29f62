package dev.flotilla.zoo;

import dev.flotilla.config.CatalogueProvider;
import dev.flotilla.data.DataSource;
import dev.flotilla.model.Model;
import dev.flotilla.zoo.data.BertLines;
import dev.flotilla.zoo.data.Cifar10;
import dev.flotilla.zoo.data.Digits;
import dev.flotilla.zoo.data.ImageFolder;
import dev.flotilla.zoo.data.Mnist;
import dev.flotilla.zoo.data.PlainText;
import dev.flotilla.zoo.data.SyntheticImages;
import dev.flotilla.zoo.data.SyntheticTokens;
import dev.flotilla.zoo.model.Bert;
import dev.flotilla.zoo.model.BertBase;
import dev.flotilla.zoo.model.BertLarge;
import dev.flotilla.zoo.model.BertTiny;
import dev.flotilla.zoo.model.LeNet5;
import dev.flotilla.zoo.model.Mlp;
import dev.flotilla.zoo.model.ResNet18;
import dev.flotilla.zoo.model.ResNet50;
import dev.flotilla.zoo.model.Vgg16;
import dev.flotilla.zoo.model.Vgg16Bn;
import dev.flotilla.zoo.rows.RowFolder;
import dev.flotilla.zoo.table.Csv;
import dev.flotilla.zoo.table.Parquet;
import java.util.Map;

/** The zoo's names, found by recipes through the service loader. */
public final class ZooCatalogue implements CatalogueProvider {

  @Override
  public Map<String, Class<? extends Model>> models() {
    return Map.ofEntries(
        Map.entry("bert", Bert.class),
        Map.entry("bert-base", BertBase.class),
        Map.entry("bert-large", BertLarge.class),
        Map.entry("bert-tiny", BertTiny.class),
        Map.entry("lenet5", LeNet5.class),
        Map.entry("mlp", Mlp.class),
        Map.entry("resnet18", ResNet18.class),
        Map.entry("resnet50", ResNet50.class),
        Map.entry("vgg16", Vgg16.class),
        Map.entry("vgg16_bn", Vgg16Bn.class));
  }

  @Override
  public Map<String, Class<? extends DataSource>> data() {
    return Map.ofEntries(
        Map.entry("bert-lines", BertLines.class),
        Map.entry("cifar10", Cifar10.class),
        Map.entry("csv", Csv.class),
        Map.entry("digits", Digits.class),
        Map.entry("image-folder", ImageFolder.class),
        Map.entry("mnist", Mnist.class),
        Map.entry("parquet", Parquet.class),
        Map.entry("rows", RowFolder.class),
        Map.entry("synthetic-images", SyntheticImages.class),
        Map.entry("synthetic-tokens", SyntheticTokens.class),
        Map.entry("text", PlainText.class));
  }
}
