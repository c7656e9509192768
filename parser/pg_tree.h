// Owns a libpg_query parse result and its unpacked protobuf-c tree. libpg_query recurses without a stack check, so text
// of any size must be parsed on a stack that is large enough for it: see big_stack.h.
#pragma once

#include <pg_query.h>
#include <pg_query.pb-c.h>

#include <string>

namespace weir::parser {

class PgTree {
 public:
  // TEXT must be NUL-terminated.
  explicit PgTree(const std::string& text) : result_(pg_query_parse_protobuf(text.c_str())) {
    if (result_.error != nullptr) return;
    tree_ = pg_query__parse_result__unpack(nullptr, result_.parse_tree.len, reinterpret_cast<const uint8_t*>(result_.parse_tree.data));
  }
  ~PgTree() {
    if (tree_ != nullptr) pg_query__parse_result__free_unpacked(tree_, nullptr);
    pg_query_free_protobuf_parse_result(result_);
  }
  PgTree(const PgTree&) = delete;
  PgTree& operator=(const PgTree&) = delete;

  // Null: it does not parse.
  const PgQuery__ParseResult* get() const { return tree_; }

 private:
  PgQueryProtobufParseResult result_;
  PgQuery__ParseResult* tree_ = nullptr;
};

}  // namespace weir::parser
