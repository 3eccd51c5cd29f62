package dev.flotilla.data;

/** What a sample looks like to a model, as far as that is known before any is read. */
public sealed interface SampleForm {

  /** Returns the number of classes that targets name; 0 where they name none. */
  int classes();

  /**
   * Images.
   *
   * @param channels planes of an image
   * @param height rows of a plane
   * @param width columns of a plane
   * @param classes number of classes
   */
  record Images(int channels, int height, int width, int classes) implements SampleForm {

    /** Returns the numbers of one image. */
    public long elements() {
      return (long) channels * height * width;
    }

    @Override
    public String toString() {
      return "images of %dx%dx%d".formatted(channels, height, width);
    }
  }

  /**
   * Rows of numbers, as a table has them.
   *
   * @param columns numbers of a row
   * @param classes number of classes; 0 where a number is to be guessed
   */
  record Numbers(int columns, int classes) implements SampleForm {

    @Override
    public String toString() {
      return "rows of %d numbers".formatted(columns);
    }
  }

  /**
   * Sequences of tokens.
   *
   * @param vocabSize number above that of every token
   * @param longest the most tokens that a sequence may have
   * @param classes number of classes; 0 where tokens are masked, to be guessed
   */
  record Tokens(int vocabSize, int longest, int classes) implements SampleForm {

    @Override
    public String toString() {
      return classes == 0
          ? "sequences of tokens for pre-training"
          : "sequences of tokens for classification";
    }
  }
}
