// What it costs to know what a statement is: FactsCache::get() of a pgbench select. Build type
// RelWithDebInfo.
//   repeated    the same text again: a prepared statement, or a client that sends no literals in
//   its text look-alike  only the literals differ: pgbench's simple protocol cold        a text
//   that the cache does not know, nor one like it: libpg_query parses
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "parser/classify.h"
#include "parser/facts_cache.h"
#include "parser/fingerprint.h"

namespace {
using weir::parser::FactsCache;

constexpr std::string_view kWithParameter = "SELECT abalance FROM pgbench_accounts WHERE aid = $1;";
constexpr std::string_view kPrefix = "SELECT abalance FROM pgbench_accounts WHERE aid = ";

// Texts made ahead, so that making them is not measured; more than a branch predictor learns by
// heart.
const std::array<std::string, 4096>& look_alikes() {
  static const auto texts = [] {
    std::array<std::string, 4096> result;
    std::uint32_t number = 1;
    for (std::string& text : result) {
      number = number * 1664525U + 1013904223U;
      text = std::string(kPrefix) + std::to_string(1 + number % 1000000U) + ";";
    }
    return result;
  }();
  return texts;
}

void repeated(benchmark::State& state) {
  FactsCache cache;
  cache.get(kWithParameter);
  // A parameter is no literal: kept by its exact text from the first time.
  if (cache.get(kWithParameter); cache.counters().exact == 0)
    return state.SkipWithError("not found by its exact text");
  for (auto _ : state)
    benchmark::DoNotOptimize(cache.get(kWithParameter));
}
BENCHMARK(repeated);

void look_alike(benchmark::State& state) {
  FactsCache cache;
  const auto& texts = look_alikes();
  cache.get(texts[0]);
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(cache.get(texts[i]));
    i = (i + 1) % texts.size();
  }
  if (cache.counters().misses != 1)
    state.SkipWithError("parsed more than once");
}
BENCHMARK(look_alike);

// The part of look_alike that takes the literals out.
void look_alike_skeleton(benchmark::State& state) {
  const auto& texts = look_alikes();
  std::string buffer;
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(weir::parser::skeleton(texts[i], buffer));
    i = (i + 1) % texts.size();
  }
}
BENCHMARK(look_alike_skeleton);

// The same select, each time with another column's name; the cache is full after a while and drops
// the oldest, as in a server. With (false) and without the cache, which tells what is libpg_query's
// and the walk's part.
void cold(benchmark::State& state, bool parse_only) {
  FactsCache cache;
  std::string text;
  std::uint64_t number = 0;
  for (auto _ : state) {
    text = "SELECT abalance FROM pgbench_accounts WHERE aid";
    text += std::to_string(++number);
    text += " = $1;";
    if (parse_only)
      benchmark::DoNotOptimize(weir::parser::classify(text));
    else
      benchmark::DoNotOptimize(cache.get(text));
  }
  if (!parse_only && cache.counters().misses != number)
    state.SkipWithError("not parsed each time");
}
BENCHMARK_CAPTURE(cold, all, false);
BENCHMARK_CAPTURE(cold, classify, true);

} // namespace

BENCHMARK_MAIN();
