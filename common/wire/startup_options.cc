#include "common/wire/startup_options.h"

#include <algorithm>

#include "common/base/sqlstate.h"

namespace weir::wire {
namespace {

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  std::size_t i = 0;
  while (true) {
    while (i < text.size() && is_blank(text[i])) ++i;
    if (i == text.size()) return words;
    std::string word;
    while (i < text.size() && !is_blank(text[i])) {
      if (text[i] == '\\' && ++i == text.size()) break;  // a backslash at the end is dropped
      word += text[i++];
    }
    words.push_back(std::move(word));
  }
}

tl::unexpected<Error> refuse(const std::string& word) {
  if (word.size() > 1 && word[0] == '-' && word != "--" && word != "-c") {
    return fail(make_fatal(sqlstate::kFeatureNotSupported,
                           "unsupported switch in startup parameter \"options\": " + word, {},
                           "Only -c name=value and --name=value are supported."));
  }
  return fail(make_fatal(sqlstate::kSyntaxError, "invalid command-line argument for server process: " + word, {},
                         "Use -c name=value or --name=value."));
}

}  // namespace

Result<std::vector<std::pair<std::string, std::string>>> parse_options(std::string_view text) {
  const std::vector<std::string> words = split(text);
  std::vector<std::pair<std::string, std::string>> options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    std::string setting;
    const bool dashes = word.starts_with("--");
    if (word == "-c" && i + 1 < words.size()) {
      setting = words[++i];
    } else if ((dashes || word.starts_with("-c")) && word.size() > 2) {
      setting = word.substr(2);
    } else {
      return refuse(word);
    }
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) {
      return fail(make_fatal(sqlstate::kSyntaxError, (dashes ? "--" : "-c ") + setting + " requires a value"));
    }
    std::string name = setting.substr(0, equals);
    std::replace(name.begin(), name.end(), '-', '_');
    options.emplace_back(std::move(name), setting.substr(equals + 1));
  }
  return options;
}

}  // namespace weir::wire
