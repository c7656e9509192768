// Names of clients into the catalogue question, and rows of a server out of its answer.
// Input: fields separated by 0x1F, rows by 0x1E; the first row holds the names, each with its kind's letter in front.
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/check.h"
#include "lb/catalog_query.h"

namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir;
  const auto lines = split(std::string(reinterpret_cast<const char*>(data), size), '\x1E');
  std::vector<lb::Missing> names;
  for (const std::string& word : split(lines[0], '\x1F')) {
    const char kind = word.empty() ? 'r' : word[0];
    names.push_back({static_cast<shmem::FactKind>(kind & 3), word.empty() ? "" : word.substr(1)});
  }
  const std::string question = lb::catalog_query(names);
  WEIR_CHECK(question.find('\0') == std::string::npos);
  std::vector<lb::CatalogRow> rows;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    lb::CatalogRow row;
    for (std::string& value : split(lines[i], '\x1F')) {
      if (value == "\\N") {
        row.emplace_back();
      } else {
        row.emplace_back(std::move(value));
      }
    }
    rows.push_back(std::move(row));
  }
  const auto facts = lb::parse_catalog_rows(names, rows);
  if (facts) {
    WEIR_CHECK(facts->size() == names.size());
    for (const lb::CatalogFact& fact : *facts) {
      for (const lb::SchemaFlags& flags : fact.schemas) WEIR_CHECK(!flags.schema.empty());
    }
  }
  return 0;
}
