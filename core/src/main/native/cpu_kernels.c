// Operations of small networks on a CPU, where libtorch takes many times as long as memory does.
//
// Each gives the bits of libtorch's operations that it stands for. Vectors of four are what every processor has: SSE2 on
// x86-64, NEON on arm64. On x86-64 images are shared out among libtorch's threads, OpenMP's, whose library is asked for
// its functions by name, as needing them here would load the host's; on arm64 PyTorch's wheel gives it a name of its own.
#ifdef __x86_64__
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#endif
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define LANES 4

// In place of a window's largest element: none is above zero.
#define NOTHING 4

typedef int32_t ints __attribute__((vector_size(4 * LANES)));
typedef float floats __attribute__((vector_size(4 * LANES)));
typedef uint8_t bytes __attribute__((vector_size(LANES)));

static inline ints load(const void* from) {
  ints values;
  memcpy(&values, from, sizeof values);
  return values;
}

static inline ints chosen(ints mask, ints yes, ints no) { return (mask & yes) | (~mask & no); }

static inline ints larger(ints a, ints b) { return chosen(a > b, a, b); }

// The bits of max(0, x), which stand in the order of the numbers; not a number is the largest one.
static inline ints rectified(ints bits) {
  const ints magnitude = bits & INT32_MAX;
  return magnitude & ((bits >= 0) | (magnitude > 0x7f800000));
}

// Four windows: the maxima of rectified elements, and which one it is, the first of equal ones.
static inline void windows(const float* upper, const float* lower, float* output, uint8_t* places) {
  const ints even = {0, 2, 4, 6}, odd = {1, 3, 5, 7};
  const ints left = load(upper), right = load(upper + LANES), below = load(lower), beside = load(lower + LANES);
  const ints first = __builtin_shuffle(left, right, even);
  const ints a = rectified(first), b = rectified(__builtin_shuffle(left, right, odd));
  const ints c = rectified(__builtin_shuffle(below, beside, even)), d = rectified(__builtin_shuffle(below, beside, odd));
  const ints most = larger(larger(a, b), larger(c, d));
  // A comparison gives -1 for true: counts how many come before the first one that is as large.
  const ints before_b = a != most, before_c = before_b & (b != most), before_d = before_c & (c != most);
  const ints place = -(before_b + before_c + before_d);
  const bytes narrow = __builtin_convertvector(chosen(most == 0, (ints){} + NOTHING, place), bytes);
  // libtorch leaves a zero its sign, and takes the first of several.
  const ints result = chosen((most == 0) & (first == INT32_MIN), first, most);
  memcpy(output, &result, sizeof result);
  memcpy(places, &narrow, sizeof narrow);
}

// Four windows: each gradient to its element, and zeros to the others.
static inline void spread(const float* gradient, const uint8_t* places, float* upper, float* lower) {
  bytes narrow;
  floats value;
  memcpy(&narrow, places, sizeof narrow);
  memcpy(&value, gradient, sizeof value);
  // libtorch adds it to a zero, which makes a zero of another sign the usual one.
  const ints bits = (ints)(value + 0.0f), place = __builtin_convertvector(narrow, ints);
  const ints a = bits & (place == 0), b = bits & (place == 1), c = bits & (place == 2), d = bits & (place == 3);
  const ints first = {0, 4, 1, 5}, second = {2, 6, 3, 7};
  const ints left = __builtin_shuffle(a, b, first), right = __builtin_shuffle(a, b, second);
  const ints below = __builtin_shuffle(c, d, first), beside = __builtin_shuffle(c, d, second);
  memcpy(upper, &left, sizeof left);
  memcpy(upper + LANES, &right, sizeof right);
  memcpy(lower, &below, sizeof below);
  memcpy(lower + LANES, &beside, sizeof beside);
}

// Windows of some planes of images.
typedef struct task {
  void (*run)(const struct task*, int64_t first, int64_t last);
  const float* given;
  uint8_t* places;
  float* result;
  int64_t planes, height, width;
} task;

#ifdef __x86_64__

// Fewer windows do not pay for waking a thread.
#define LEAST_WINDOWS 8192

static void (*parallel)(void (*)(void*), void*, unsigned, unsigned);
static int (*is_in_parallel)(void);
static int (*most_threads)(void);
static int (*thread_number)(void);
static int (*team_size)(void);
static bool is_found;

static void find_functions(void) {
  void* openmp = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (openmp == NULL) return;
  parallel = (void (*)(void (*)(void*), void*, unsigned, unsigned))dlsym(openmp, "GOMP_parallel");
  is_in_parallel = (int (*)(void))dlsym(openmp, "omp_in_parallel");
  most_threads = (int (*)(void))dlsym(openmp, "omp_get_max_threads");
  thread_number = (int (*)(void))dlsym(openmp, "omp_get_thread_num");
  team_size = (int (*)(void))dlsym(openmp, "omp_get_num_threads");
  is_found = parallel && is_in_parallel && most_threads && thread_number && team_size;
}

static void run_share(void* data) {
  const task* work = data;
  const int64_t part = thread_number(), parts = team_size();
  work->run(work, work->planes * part / parts, work->planes * (part + 1) / parts);
}

static void run(task* work) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_functions);
  const bool is_worth_it = work->planes * (work->height / 2) * (work->width / 2) >= LEAST_WINDOWS;
  if (is_worth_it && is_found && most_threads() > 1 && !is_in_parallel()) {
    parallel(run_share, work, (unsigned)most_threads(), 0);
  } else {
    work->run(work, 0, work->planes);
  }
}

#else

static void run(task* work) { work->run(work, 0, work->planes); }

#endif

static void find_maxima(const task* work, int64_t first, int64_t last) {
  const int64_t rows = work->height / 2, columns = work->width / 2;
  const float* input = work->given + first * work->height * work->width;
  float* output = work->result + first * rows * columns;
  uint8_t* places = work->places + first * rows * columns;
  for (int64_t plane = first; plane < last; ++plane, input += work->height * work->width) {
    for (int64_t row = 0; row < rows; ++row, output += columns, places += columns) {
      const float *upper = input + 2 * row * work->width, *lower = upper + work->width;
      for (int64_t i = 0; i < columns; i += LANES) {
        const int64_t at = i <= columns - LANES ? i : columns - LANES;
        windows(upper + 2 * at, lower + 2 * at, output + at, places + at);
      }
    }
  }
}

static void spread_gradients(const task* work, int64_t first, int64_t last) {
  const int64_t height = work->height, width = work->width, rows = height / 2, columns = width / 2;
  const float* gradient = work->given + first * rows * columns;
  const uint8_t* places = work->places + first * rows * columns;
  float* result = work->result + first * height * width;
  for (int64_t plane = first; plane < last; ++plane, result += height * width) {
    for (int64_t row = 0; row < rows; ++row, gradient += columns, places += columns) {
      float *upper = result + 2 * row * width, *lower = upper + width;
      for (int64_t i = 0; i < columns; i += LANES) {
        const int64_t at = i <= columns - LANES ? i : columns - LANES;
        spread(gradient + at, places + at, upper + 2 * at, lower + 2 * at);
      }
      if (width % 2 != 0) upper[width - 1] = lower[width - 1] = 0.0f;
    }
    if (height % 2 != 0) memset(result + (height - 1) * width, 0, sizeof(float) * (size_t)width);
  }
}

// max(0, x), then the maximum of each 2 x 2 window: relu and max_pool2d. There are at least four windows in a row: the
// last four may be computed twice.
EXPORT void flotilla_rectified_maximum(const float* input, float* output, uint8_t* places, int64_t planes,
                                       int64_t height, int64_t width) {
  run(&(task){find_maxima, input, places, output, planes, height, width});
}

// The gradient of what the function above has taken; all of the result is written.
EXPORT void flotilla_rectified_maximum_gradient(const float* gradient, uint8_t* places, float* result, int64_t planes,
                                                int64_t height, int64_t width) {
  run(&(task){spread_gradients, gradient, places, result, planes, height, width});
}
