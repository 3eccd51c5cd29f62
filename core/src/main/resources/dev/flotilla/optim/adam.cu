// Adam, or AdamW with DECOUPLED decay, over pieces of parameters: a block updates a piece. Numbers
// are rounded where libtorch's own kernel rounds them.

typedef unsigned long long u64;

struct Piece {
  float* parameter;
  const float* gradient;
  float* first;
  float* second;
  u64 length;
};

struct Rule {
  double lr, beta1, beta2, decay, eps;
  float correction1, correction2_sqrt;
};

__device__ inline void change(
    const Rule& rule, float& parameter, const float given, float& first, float& second) {
  float gradient = given;
  if (rule.decay != 0) {
#if DECOUPLED
    parameter -= rule.lr * rule.decay * parameter;
#else
    gradient += parameter * rule.decay;
#endif
  }
  first = rule.beta1 * first + (1 - rule.beta1) * gradient;
  second = rule.beta2 * second + (1 - rule.beta2) * gradient * gradient;
  const float step_size = rule.lr / rule.correction1;
  const float denominator = sqrtf(second) / rule.correction2_sqrt + rule.eps;
  parameter -= step_size * first / denominator;
}

// Nothing changes if a number is found to be 1.
extern "C" __global__ void __launch_bounds__(THREADS) adam(
    const Piece* __restrict__ pieces,
    double lr,
    double beta1,
    double beta2,
    double decay,
    double eps,
    const float* __restrict__ count,
    const float* __restrict__ found) {
  if (found != nullptr && *found == 1) {
    return;
  }
  const Piece piece = pieces[blockIdx.x];
  __shared__ float corrections[2];
  if (threadIdx.x == 0) {
    const double updates = *count;
    corrections[0] = 1 - pow(beta1, updates);
    corrections[1] = sqrt(1 - pow(beta2, updates));
  }
  __syncthreads();
  const Rule rule = {lr, beta1, beta2, decay, eps, corrections[0], corrections[1]};
  const u64 places = (u64) piece.parameter | (u64) piece.gradient | (u64) piece.first |
                     (u64) piece.second;
  u64 done = 0;
  if (places % 16 == 0) {
    done = piece.length / 4 * 4;
    for (u64 i = threadIdx.x * 4; i < done; i += THREADS * 4) {
      float4 p = *reinterpret_cast<float4*>(piece.parameter + i);
      const float4 g = *reinterpret_cast<const float4*>(piece.gradient + i);
      float4 m = *reinterpret_cast<float4*>(piece.first + i);
      float4 v = *reinterpret_cast<float4*>(piece.second + i);
      change(rule, p.x, g.x, m.x, v.x);
      change(rule, p.y, g.y, m.y, v.y);
      change(rule, p.z, g.z, m.z, v.z);
      change(rule, p.w, g.w, m.w, v.w);
      *reinterpret_cast<float4*>(piece.parameter + i) = p;
      *reinterpret_cast<float4*>(piece.first + i) = m;
      *reinterpret_cast<float4*>(piece.second + i) = v;
    }
  }
  for (u64 i = done + threadIdx.x; i < piece.length; i += THREADS) {
    float p = piece.parameter[i], m = piece.first[i], v = piece.second[i];
    change(rule, p, piece.gradient[i], m, v);
    piece.parameter[i] = p;
    piece.first[i] = m;
    piece.second[i] = v;
  }
}
