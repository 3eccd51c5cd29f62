package dev.flotilla.data;

import dev.flotilla.memory.Tensors;
import java.util.List;
import java.util.function.ToIntFunction;
import org.bytedeco.pytorch.Tensor;

/** The number of a class. */
record LabelField<T>(String name, ToIntFunction<? super T> toLabel, int classes)
    implements Field<T> {

  @Override
  public Tensor encode(List<T> objects, long[] numbers) {
    var labels = new long[objects.size()];
    for (int i = 0; i < labels.length; i++) {
      labels[i] = label(objects.get(i), numbers[i]);
    }
    return Tensors.ofLongs(labels);
  }

  int label(T object, long number) {
    int label = Field.ask(name, toLabel::applyAsInt, object, number);
    if (label < 0 || label >= classes) {
      throw new IllegalArgumentException(
          "the %s of sample %d must be %s, but was %d"
              .formatted(
                  name,
                  number,
                  classes == Integer.MAX_VALUE
                      ? "at least 0"
                      : "in [0, %d), the number of a class".formatted(classes),
                  label));
    }
    return label;
  }
}
