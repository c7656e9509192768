// Prepared statements as servers have them while connections are lent by the transaction: one for each text with its
// parameter types, whoever uses it, under a name that no client gave. And the clients' messages with that name in them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "common/base/bytes.h"

namespace weir::child {

struct SharedStatement {
  std::string server_name;  // "pgweir_7"
  std::uint64_t number = 0; // never used again in this process
  std::string definition;   // of a Parse message, what stands behind the name
};
using SharedStatementPtr = std::shared_ptr<const SharedStatement>;

// All of one process.
class StatementRegistry {
 public:
  // The one whose Parse message is PARSE but for the name: a whole message that was checked.
  SharedStatementPtr intern(Bytes parse);
  std::size_t size() const { return statements_.size(); }

 private:
  std::unordered_map<std::string, std::weak_ptr<const SharedStatement>> statements_;
  std::uint64_t numbers_ = 0;
  std::size_t swept_at_ = 256;
};

// A name that clients have of their own, and that could be one of ours, gets this in front where a server must not know it.
inline constexpr std::string_view kServerNamePrefix = "pgweir_";

// Appends MESSAGE, a whole Parse, Bind, Describe or Close of a statement that was checked, with NAME as that of the statement.
void encode_renamed(std::string& out, Bytes message, std::string_view name);

}  // namespace weir::child
