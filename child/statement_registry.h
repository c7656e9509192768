// Prepared statements as servers have them while connections are lent by the transaction: one for each text with its
// parameter types, whoever uses it, under a name that no client gave. And the clients' messages with that name in them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/base/bytes.h"

namespace weir::child {

struct SharedStatement {
  std::string server_name;  // "pgweir_5f0c3e12_7"
  std::uint64_t number = 0; // never used again in this process
  std::string definition;   // of a Parse message, what stands behind the name
};
using SharedStatementPtr = std::shared_ptr<const SharedStatement>;

// A name that clients have of their own, and that could be one of ours, gets this in front where a server must not know it.
inline constexpr std::string_view kServerNamePrefix = "pgweir_";

// All of one process. TAG is in the names, so that those of two processes differ: there may be a pooler behind pgweir that
// lets them meet on one server connection.
class StatementRegistry {
 public:
  explicit StatementRegistry(std::uint32_t tag = 0) : tag_(tag) {}
  std::string server_name(std::uint64_t number) const;
  // The one whose Parse message is PARSE but for the name: a whole message that was checked. SETTINGS: those of the
  // session that what a server makes of the text hangs on, in any form that tells them apart.
  SharedStatementPtr intern(Bytes parse, std::string_view settings = {});
  // One for this Parse alone, whatever others have sent.
  SharedStatementPtr alone(Bytes parse);
  // Was PARSE seen before, by anybody? Remembers some thousands; a wrong yes or no costs a little time, and nothing else.
  bool seen_before(Bytes parse);
  std::size_t size() const { return statements_.size(); }

 private:
  std::shared_ptr<SharedStatement> make(std::string definition);

  std::unordered_map<std::string, std::weak_ptr<const SharedStatement>> statements_;
  std::vector<std::size_t> seen_;  // hashes, each in its place
  std::uint32_t tag_;
  std::uint64_t numbers_ = 0;
  std::size_t swept_at_ = 256;
};

// How a message about a statement is marked that a client names like one of ours.
inline constexpr std::uint64_t kForeignStatement = ~std::uint64_t{0};

// Such words in a text mean the moment at which it is parsed ('now', 'today', ...), or may: two who send it do not mean the
// same. Sees more of them than there are.
bool names_a_moment(std::string_view text);

// An ErrorResponse with NEW_NAME in the place of OLD_NAME in its primary message: what no client has named is not shown to
// it. As it is if it is malformed or says nothing of that name.
std::string rename_in_error(Bytes message, std::string_view old_name, std::string_view new_name);

// Appends MESSAGE, a whole Parse, Bind, Describe or Close of a statement that was checked, with NAME as that of the statement.
void encode_renamed(std::string& out, Bytes message, std::string_view name);

}  // namespace weir::child
