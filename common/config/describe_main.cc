// weir_describe [DIRECTORY]: writes the files that are made from the parameter table into the tree at DIRECTORY
// (default: the current one).
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "common/config/describe.h"

int main(int argc, char** argv) {
  namespace config = weir::config;
  const std::filesystem::path tree(argc > 1 ? argv[1] : ".");
  const std::pair<const char*, std::string> files[] = {{"etc/pgweir.conf.sample", config::sample_conf()},
                                                       {"etc/pgweir-minimal.conf", config::minimal_conf()},
                                                       {"doc/parameters.md", config::parameters_page()},
                                                       {"doc/man/pgweir.conf.5", config::manual_page()}};
  for (const auto& [name, text] : files) {
    const std::filesystem::path path = tree / name;
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    if (!file) {
      std::fprintf(stderr, "weir_describe: cannot write %s\n", path.c_str());
      return 1;
    }
  }
  return 0;
}
