// Matrix products on libtorch's own threads, for the OpenBLAS that libtorch has on x86-64.
//
// That OpenBLAS has a pool of threads of its own, beside OpenMP's: both have one for every core, and wait for each other;
// and inside of a parallel loop each of libtorch's threads would start the whole pool. Here OpenBLAS keeps to the thread
// that calls it, and a product is cut into blocks of the result, which OpenMP's threads share out. A block is computed
// as a product of its own, with its sums whole, so the same number of threads gives the same bits.
//
// The library is loaded with its symbols global before libtorch, which then finds sgemm_ and dgemm_ here. It asks for
// OpenMP's and OpenBLAS's functions by name when the first product comes: libtorch has loaded its own by then, and
// needing them here would load the host's instead.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

// Less work than this does not pay for a block of its own. (LeNet-5 on 16 threads: 2.69 ms a step with 2^20, 2.54 with 2^18.)
#define LEAST_WORK_PER_THREAD (1 << 18)
// Blocks are multiples of what OpenBLAS's kernels compute at once.
#define GRAIN 16

typedef void (*sgemm)(const char*, const char*, const int*, const int*, const int*, const float*, const float*,
                      const int*, const float*, const int*, const float*, float*, const int*);
typedef void (*dgemm)(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
                      const int*, const double*, const int*, const double*, double*, const int*);

static sgemm one_thread_sgemm;
static dgemm one_thread_dgemm;
static void (*parallel)(void (*)(void*), void*, unsigned, unsigned);
static int (*is_in_parallel)(void);
static int (*most_threads)(void);
static int (*thread_number)(void);
static int (*team_size)(void);

static void* function_of(const char* library, const char* name) {
  void* loaded = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  void* found = loaded == NULL ? NULL : dlsym(loaded, name);
  if (found == NULL) abort();
  return found;
}

static void find_functions(void) {
  const char* blas = "libopenblas.so.0";
  const char* openmp = "libgomp.so.1";
  one_thread_sgemm = (sgemm)function_of(blas, "sgemm_");
  one_thread_dgemm = (dgemm)function_of(blas, "dgemm_");
  parallel = (void (*)(void (*)(void*), void*, unsigned, unsigned))function_of(openmp, "GOMP_parallel");
  is_in_parallel = (int (*)(void))function_of(openmp, "omp_in_parallel");
  most_threads = (int (*)(void))function_of(openmp, "omp_get_max_threads");
  thread_number = (int (*)(void))function_of(openmp, "omp_get_thread_num");
  team_size = (int (*)(void))function_of(openmp, "omp_get_num_threads");
  ((void (*)(int))function_of(blas, "openblas_set_num_threads"))(1);
}

static void prepare(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_functions);
}

static int between_one_and(int64_t value, int most) { return value < 1 ? 1 : value < most ? (int)value : most; }

static int parts_of(int length, int most) { return between_one_and(length / GRAIN, most); }

// Returns where part i of n begins; the last one takes what is left.
static int begin(int length, int i, int n) {
  return i == n ? length : (int)((int64_t)(length / GRAIN) * i / n) * GRAIN;
}

typedef struct {
  int m, n, rows, columns;
  void (*block)(const void* product, int i, int height, int j, int width);
  const void* product;
} Grid;

// Chooses the grid of the smallest blocks and, of those, the one that reads least of both factors more than once.
static void choose(Grid* grid, int64_t work) {
  int threads = is_in_parallel() ? 1 : between_one_and(work / LEAST_WORK_PER_THREAD, most_threads());
  int64_t least = INT64_MAX;
  grid->rows = grid->columns = 1;
  for (int rows = 1; threads > 1 && rows <= parts_of(grid->m, threads); rows++) {
    int columns = parts_of(grid->n, threads / rows);
    int64_t height = grid->m / rows, width = grid->n / columns;
    int64_t cost = height * width * 64 + height + width;
    if (cost < least) {
      least = cost;
      grid->rows = rows;
      grid->columns = columns;
    }
  }
}

static void compute_share(void* data) {
  const Grid* grid = data;
  for (int b = thread_number(); b < grid->rows * grid->columns; b += team_size()) {
    int row = b % grid->rows, column = b / grid->rows;
    int i = begin(grid->m, row, grid->rows), j = begin(grid->n, column, grid->columns);
    int height = begin(grid->m, row + 1, grid->rows) - i, width = begin(grid->n, column + 1, grid->columns) - j;
    grid->block(grid->product, i, height, j, width);
  }
}

static int is_transposed(const char* flag) { return *flag != 'n' && *flag != 'N'; }

// A team always has all threads, as libtorch's own regions have: one that changes its size is made anew.
#define PRODUCT(NAME, TYPE, FUNCTION)                                                                               \
  typedef struct {                                                                                                  \
    const char *ta, *tb;                                                                                            \
    const int *k, *lda, *ldb, *ldc;                                                                                 \
    const TYPE *alpha, *a, *b, *beta;                                                                               \
    TYPE* c;                                                                                                        \
  } FUNCTION##_product;                                                                                             \
                                                                                                                    \
  static void FUNCTION##_block(const void* data, int i, int height, int j, int width) {                             \
    const FUNCTION##_product* p = data;                                                                             \
    const TYPE* a = p->a + (is_transposed(p->ta) ? (int64_t)i * *p->lda : i);                                       \
    const TYPE* b = p->b + (is_transposed(p->tb) ? j : (int64_t)j * *p->ldb);                                       \
    TYPE* c = p->c + i + (int64_t)j * *p->ldc;                                                                      \
    one_thread_##FUNCTION(p->ta, p->tb, &height, &width, p->k, p->alpha, a, p->lda, b, p->ldb, p->beta, c, p->ldc); \
  }                                                                                                                 \
                                                                                                                    \
  __attribute__((visibility("default"))) void NAME(                                                                 \
      const char* ta, const char* tb, const int* m, const int* n, const int* k, const TYPE* alpha, const TYPE* a,   \
      const int* lda, const TYPE* b, const int* ldb, const TYPE* beta, TYPE* c, const int* ldc) {                   \
    prepare();                                                                                                      \
    FUNCTION##_product product = {ta, tb, k, lda, ldb, ldc, alpha, a, b, beta, c};                                  \
    Grid grid = {.m = *m, .n = *n, .block = FUNCTION##_block, .product = &product};                                 \
    choose(&grid, (int64_t)*m * *n * (*k > 0 ? *k : 1));                                                            \
    if (grid.rows * grid.columns == 1) {                                                                            \
      one_thread_##FUNCTION(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                                  \
    } else {                                                                                                        \
      parallel(compute_share, &grid, 0, 0);                                                                         \
    }                                                                                                               \
  }

PRODUCT(sgemm_, float, sgemm)
PRODUCT(dgemm_, double, dgemm)
