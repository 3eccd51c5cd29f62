package dev.flotilla.zoo.data;

import java.util.List;

/** What an IDX file of the MNIST family holds, one item per sample. */
enum IdxKind {
  IMAGES("images of 28 × 28 pixels"),
  LABELS("labels");

  /** Two zero bytes and the code of unsigned bytes; the number of dimensions is added. */
  private static final int UNSIGNED_BYTES = 0x0800;

  private final String items;

  IdxKind(String items) {
    this.items = items;
  }

  /** Returns what the items are, for a message. */
  String items() {
    return items;
  }

  /** Returns the sizes that must follow the number of items. */
  List<Integer> itemSizes() {
    return switch (this) {
      case IMAGES -> List.of(28, 28);
      case LABELS -> List.of();
    };
  }

  int magic() {
    return UNSIGNED_BYTES + 1 + itemSizes().size();
  }

  /** Returns the size of the header: magic number, number of items, sizes of an item. */
  int headerBytes() {
    return Integer.BYTES * (2 + itemSizes().size());
  }

  int itemBytes() {
    return itemSizes().stream().reduce(1, (a, b) -> a * b);
  }
}
