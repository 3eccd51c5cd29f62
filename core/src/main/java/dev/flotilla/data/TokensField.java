package dev.flotilla.data;

import dev.flotilla.memory.Tensors;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import org.bytedeco.pytorch.Tensor;

/** Tokens, as many as a sample has, filled up to the longest of a batch. */
record TokensField<T>(String name, Function<? super T, long[]> toTokens, long padding)
    implements Field<T> {

  @Override
  public Tensor encode(List<T> objects, long[] numbers) {
    List<long[]> rows = new ArrayList<>();
    int longest = 0;
    for (int i = 0; i < objects.size(); i++) {
      long[] row = tokens(objects.get(i), numbers[i]);
      longest = Math.max(longest, row.length);
      rows.add(row);
    }
    var all = new long[Math.multiplyExact(longest, rows.size())];
    Arrays.fill(all, padding);
    for (int i = 0; i < rows.size(); i++) {
      System.arraycopy(rows.get(i), 0, all, i * longest, rows.get(i).length);
    }
    return Tensors.ofLongs(all, rows.size(), longest);
  }

  private long[] tokens(T object, long number) {
    long[] row = Field.ask(name, toTokens, object, number);
    if (row.length == 0) {
      throw new IllegalArgumentException("the %s of sample %d are none".formatted(name, number));
    }
    return row;
  }

  int length(T object, long number) {
    return tokens(object, number).length;
  }
}
