// SHOW POOL_NODES and its kin: gathers what shared memory tells and answers as a PostgreSQL server would.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/admin/rowset.h"
#include "common/base/bytes.h"
#include "common/base/error.h"
#include "common/base/result.h"

namespace weir::child {

class Worker;

// The answer to a statement of pgweir's own: rows, or with a TAG none but that.
struct LocalAnswer {
  admin::Rowset rows;
  std::string tag;
  std::vector<Error> notices;
};

// The answer to SHOW NAME for a session whose reads go to LOAD_BALANCE_NODE (-1: none drawn yet).
Result<admin::Rowset> run_show(Worker& worker, std::string_view name, int load_balance_node);
// Its columns, for Describe; an error for what is not there yet.
Result<std::vector<admin::Column>> describe_show(std::string_view name);

// FORMATS: result format codes of a Bind; empty: text.
void encode_columns(std::string& out, const std::vector<admin::Column>& columns, const std::vector<std::int16_t>& formats);
// DataRow messages of COUNT rows from FIRST on.
void encode_rows(std::string& out, const admin::Rowset& rows, std::size_t first, std::size_t count, const std::vector<std::int16_t>& formats);

// The result format codes at the end of the body of a Bind that was checked already.
std::vector<std::int16_t> result_formats(Bytes body);

}  // namespace weir::child
