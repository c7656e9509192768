// For the tests of SHOW: cells by column name, and a fixed time zone.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "common/admin/rowset.h"

namespace weir::admin {

using Names = std::vector<std::string>;

inline Names names_of(const std::vector<Column>& columns) {
  Names names;
  for (const Column& column : columns) names.emplace_back(column.name);
  return names;
}

inline std::uint32_t type_of(const std::vector<Column>& columns, std::string_view name) {
  for (const Column& column : columns) {
    if (column.name == name) return column.type;
  }
  ADD_FAILURE() << "no column " << name;
  return 0;
}

// "NULL" for none.
inline std::string cell(const Rowset& rows, std::size_t row, std::string_view name) {
  for (std::size_t i = 0; i < rows.columns.size(); ++i) {
    if (rows.columns[i].name == name) return rows.rows.at(row).at(i).value_or("NULL");
  }
  ADD_FAILURE() << "no column " << name;
  return {};
}

// Every row as long as the columns, and what has a number's type is a number.
inline void expect_sound(const Rowset& rows) {
  for (const Row& row : rows.rows) {
    ASSERT_EQ(row.size(), rows.columns.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (rows.columns[i].type == kText || !row[i]) continue;
      EXPECT_FALSE(row[i]->empty()) << rows.columns[i].name;
      EXPECT_EQ(row[i]->find_first_not_of("-0123456789"), std::string::npos) << rows.columns[i].name << ": " << *row[i];
    }
  }
}

class TimeZone {
 public:
  explicit TimeZone(const char* zone) {
    setenv("TZ", zone, 1);
    tzset();
  }
  ~TimeZone() {
    unsetenv("TZ");
    tzset();
  }
};

}  // namespace weir::admin
