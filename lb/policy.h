// The routing settings, compiled once per (re)load and then only read. Patterns: common/config/pattern.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/config/config.h"
#include "lb/algorithm.h"
#include "lb/delay.h"
#include "lb/object_relations.h"
#include "lb/redirect.h"

namespace weir::lb {

// disable_load_balance_on_write: what a write keeps on the primary beside the transaction that it is in.
enum class WriteKeeps : std::uint8_t {
  Nothing,       // off: not even its transaction
  Tables,        // dml_adaptive: what in its transaction may read what was written
  Transaction,   // nothing else
  Transactions,  // trans_transaction: later transactions that may write
  Everything,    // always: all later reads
  RecentTables,  // dml_adaptive_global: what may read a table that anybody has written a short time ago
};

// The plain values that routing is configured by; names as in the configuration.
struct PolicySettings {
  bool load_balance_mode = true;
  bool statement_level_load_balance = false;
  bool ignore_leading_white_space = true;
  WriteKeeps write_keeps = WriteKeeps::Transaction;
  std::vector<std::string> read_only_function_list;
  std::vector<std::string> write_function_list;
  std::vector<std::string> primary_routing_query_pattern_list;
  RedirectSettings redirects;
  DelayLimit delay_limit;
  Algorithm algorithm = Algorithm::Weighted;
  std::vector<std::string> object_relations;  // dml_adaptive_object_relationship_list
};

// What the two function lists say of one function. Unlisted: nothing, the catalogue decides.
enum class FunctionListing { Unlisted, ReadOnly, Write };

class Policy {
 public:
  // Balancing on, no lists.
  Policy();
  ~Policy();
  Policy(Policy&&) noexcept;
  Policy& operator=(Policy&&) noexcept;

  bool load_balance() const { return load_balance_; }
  // A node is drawn for each exchange; else one is drawn for each session and kept while it is usable.
  bool per_statement() const { return per_statement_; }
  WriteKeeps write_keeps() const { return write_keeps_; }

  // True if TEXT must go to the primary by primary_routing_query_pattern_list. TEXT counts with and without its blanks
  // and semicolons at the end (and at the start, with ignore_leading_white_space). Linear in the text's length; without
  // patterns it costs nothing.
  bool matches_primary_pattern(std::string_view text) const {
    return has_primary_patterns_ && matches_primary_pattern_slow(text);
  }

  // With read_only_function_list, every function not in it is a write and write_function_list is without effect. A call
  // qualified by a schema is looked for as "schema.name"; for writes, and in pg_catalog, as the bare name too.
  FunctionListing function_listing(std::string_view schema, std::string_view name) const {
    return has_function_lists_ ? function_listing_slow(schema, name) : FunctionListing::Unlisted;
  }

  Algorithm algorithm() const { return algorithm_; }
  // Empty unless write_keeps() is Tables.
  const ObjectRelations& relations() const { return relations_; }
  const DelayLimit& delay_limit() const { return delay_limit_; }

  // Where the redirect lists send the reads of such a session.
  Redirect redirect(std::string_view app_name, std::string_view database, std::string_view user) const {
    return has_redirects_ ? redirect_slow(app_name, database, user) : Redirect{};
  }

 private:
  friend Result<Policy> compile_policy(const PolicySettings& settings);
  struct Lists;

  bool matches_primary_pattern_slow(std::string_view text) const;
  FunctionListing function_listing_slow(std::string_view schema, std::string_view name) const;
  Redirect redirect_slow(std::string_view app_name, std::string_view database, std::string_view user) const;

  bool load_balance_ = true;
  bool per_statement_ = false;
  WriteKeeps write_keeps_ = WriteKeeps::Transaction;
  bool has_primary_patterns_ = false;
  bool has_function_lists_ = false;
  bool has_redirects_ = false;
  DelayLimit delay_limit_;
  Algorithm algorithm_ = Algorithm::Weighted;
  ObjectRelations relations_;
  std::unique_ptr<Lists> lists_;
};

// Fails (22023) if a pattern is no valid regular expression, or a redirect or pair of objects cannot be read; the detail names each such entry
// and its parameter. Empty entries do not count.
Result<Policy> compile_policy(const PolicySettings& settings);

// The same from a configuration. In the clustering mode raw nothing is balanced.
Result<Policy> compile_policy(const config::Config& config);

}  // namespace weir::lb
