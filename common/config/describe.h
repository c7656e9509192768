// Texts made from the parameter table: what a configuration shows, and the sample files, reference and manual page.
#pragma once

#include <string>
#include <vector>

#include "common/config/config.h"

namespace weir::config {

struct Description {
  std::string name;
  std::string value;   // as a file would have it, without quotes; secrets as *****
  std::string unit;    // of the value, may be empty
  std::string source;  // "default", "FILE:LINE", "environment", "command line"
  std::string text;    // what the parameter does
};
// Every parameter in the table's order, then those of the nodes by number.
std::vector<Description> describe(const Config& config);

struct Item {
  std::string item;
  std::string value;
  std::string description;
};
// The parameters as SHOW POOL_STATUS lists them: Pgpool-II's in its order, with raw values (booleans 0 and 1, choices
// as numbers), then pgweir's own. Secrets are left out; the nodes are the caller's to add.
std::vector<Item> pool_status_items(const Config& config);

// The four texts that are kept in the tree; weir_describe writes them.
std::string sample_conf();      // etc/pgweir.conf.sample: every parameter, commented out, with its default
std::string minimal_conf();     // etc/pgweir-minimal.conf: a primary and two standbys
std::string parameters_page();  // doc/parameters.md
std::string manual_page();      // doc/man/pgweir.conf.5

}  // namespace weir::config
