// Reads the rows of test/tables/classify.tsv that hold for the grammar we are built with.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "test/unit/parser/grammar.h"

namespace weir::parser {

struct TableRow {
  int line = 0;
  std::string text;
  std::string facts;
};

inline std::string unescape(std::string_view field) {
  std::string out;
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i] != '\\' || i + 1 == field.size()) {
      out += field[i];
      continue;
    }
    ++i;
    out += field[i] == 'n' ? '\n' : field[i] == 't' ? '\t' : field[i];
  }
  return out;
}

inline std::vector<TableRow> read_classify_table() {
  std::ifstream in(std::string(WEIR_SOURCE_DIR) + "/test/tables/classify.tsv");
  EXPECT_TRUE(in.is_open());
  std::vector<TableRow> rows;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.empty() || line[0] == '#')
      continue;
    const std::size_t tab = line.find('\t');
    EXPECT_NE(tab, std::string::npos) << "line " << number;
    if (tab == std::string::npos)
      continue;
    const std::size_t end = line.find('\t', tab + 1);
    if (end != std::string::npos) {
      const std::optional<bool> holds =
          holds_for_grammar(std::string_view(line).substr(end + 1));
      EXPECT_TRUE(holds.has_value()) << "line " << number;
      if (!holds.value_or(false))
        continue;
    }
    rows.push_back({number, unescape(line.substr(0, tab)), line.substr(tab + 1, end - tab - 1)});
  }
  return rows;
}

} // namespace weir::parser
