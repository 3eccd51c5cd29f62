package dev.flotilla.strategy.compress;

/**
 * Finds the k-th largest of some sizes.
 *
 * <p>A size is the bit pattern of |x|, a non-negative int that is ordered like |x| itself.
 */
final class TopKeys {

  static final int WITHOUT_SIGN = 0x7fffffff;

  private TopKeys() {}

  static int key(float value) {
    return Float.floatToRawIntBits(value) & WITHOUT_SIGN;
  }

  /**
   * Returns the k-th largest of the first {@code count} keys, and reorders them.
   *
   * @param k from 1 to count
   */
  static int kthLargest(int[] keys, int count, int k) {
    int low = 0;
    int high = count - 1;
    int target = k - 1;
    while (low < high) {
      int pivot = median(keys[low], keys[(low + high) >>> 1], keys[high]);
      int left = low;
      int right = high;
      while (left <= right) {
        while (keys[left] > pivot) {
          left++;
        }
        while (keys[right] < pivot) {
          right--;
        }
        if (left <= right) {
          swap(keys, left++, right--);
        }
      }
      if (target <= right) {
        high = right;
      } else if (target >= left) {
        low = left;
      } else {
        return keys[target];
      }
    }
    return keys[target];
  }

  private static int median(int a, int b, int c) {
    return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
  }

  private static void swap(int[] keys, int i, int j) {
    int key = keys[i];
    keys[i] = keys[j];
    keys[j] = key;
  }
}
