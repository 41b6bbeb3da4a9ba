// Random numbers of several distributions, the same bits on every machine: only arithmetic and square roots, which IEEE
// 754 rounds in one way, and a logarithm of our own.
#pragma once

#include <cotouch/base/random.h>

namespace cotouch {

// The natural logarithm of a positive, normal number; relative error below 1e-15 away from 1, absolute below 1e-16
// near.
double natural_log(double x);

// Mean 0, standard deviation 1 (Marsaglia's polar method).
double draw_normal(Random& random);

// Mean 1; the inverse of its distribution function, -log(1 - u).
double draw_exponential(Random& random);

// From 0 to `most`, with a tail that falls like 1/x^2: the Lomax distribution of shape 2, P(X > x) = (1 + x/s)^-2,
// cut off at m = `most` and scaled to one. Its mean is s m / (2 s + m), so that a given mean needs
// s = m mean / (m - 2 mean); the mean must be below m / 2.
double draw_heavy_tail(Random& random, double mean, double most);

}  // namespace cotouch
