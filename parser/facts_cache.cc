#include "parser/facts_cache.h"

#include "parser/classify.h"
#include "parser/fingerprint.h"

namespace weir::parser {

std::shared_ptr<const Entry> FactsCache::Table::find(std::string_view text) {
  const auto it = index_.find(text);
  if (it == index_.end()) return nullptr;
  if (it->second != lines_.begin()) lines_.splice(lines_.begin(), lines_, it->second);
  return it->second->entry;
}

void FactsCache::Table::insert(std::string_view text, std::shared_ptr<const Entry> entry) {
  lines_.push_front({std::string(text), std::move(entry)});
  bytes_ += text.size() + 512;  // the facts are of about that size
  index_.insert_or_assign(std::string_view(lines_.front().text), lines_.begin());
  while (lines_.size() > max_entries_ || (bytes_ > max_bytes_ && lines_.size() > 1)) {
    index_.erase(std::string_view(lines_.back().text));
    bytes_ -= lines_.back().text.size() + 512;
    lines_.pop_back();
  }
}

FactsCache::FactsCache(std::size_t max_entries, std::size_t max_bytes) : exact_(max_entries, max_bytes), skeletons_(max_entries, max_bytes) {}

std::shared_ptr<const Entry> FactsCache::get(std::string_view text) {
  if (auto hit = exact_.find(text)) {
    ++counters_.exact;
    return hit;
  }
  const bool short_enough = text.size() <= kMaxText;
  const bool blind = short_enough && skeleton(text, scratch_);
  bool marked = false;
  if (blind) {
    // A text whose facts hang on its literals has an empty mark here: it is looked at as it is.
    if (auto hit = skeletons_.find(scratch_)) {
      if (!hit->facts.statements.empty()) {
        ++counters_.skeletons;
        return hit;
      }
      marked = true;
    }
  }
  ++counters_.misses;
  auto entry = std::make_shared<Entry>();
  entry->facts = classify(text);
  if (!short_enough) return entry;
  if (blind && !entry->facts.exact_text_only) {
    skeletons_.insert(scratch_, entry);
  } else {
    if (blind && !marked) skeletons_.insert(scratch_, std::make_shared<Entry>());
    exact_.insert(text, entry);
  }
  return entry;
}

}  // namespace weir::parser
