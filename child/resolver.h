// Facts of a text (parsed once, cached) and what the catalogue makes of them in a session's context, remembered until
// the catalogue's epoch changes: a repeated statement costs two look-ups.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "child/prepared.h"
#include "common/shmem/catalog_facts.h"
#include "lb/effects.h"
#include "lb/resolve.h"
#include "parser/facts_cache.h"

namespace weir::child {

class Worker;

// What names mean depends on these; interned, since most sessions share them.
using ContextId = std::uint32_t;
struct NameContext {
  std::string database;
  std::vector<std::string> search_path;
  bool search_path_known = false;
  bool foreign_encoding = false;
  bool operator==(const NameContext&) const = default;
};

struct Resolution {
  FactsPtr facts;
  lb::Resolved resolved;
  lb::Effects effects;
  std::uint32_t at = 0;  // seconds of the loop's clock when the catalogue was asked
  bool plain_state = false;  // completes without any change of session state
};

class Resolver {
 public:
  Resolver(Worker& worker);
  ~Resolver();

  FactsPtr facts(std::string_view text);
  // The facts of a text that may not be looked at (too large, unsafe encoding).
  const FactsPtr& unclassified() const { return unclassified_; }
  // Those of a statement of pgweir's own that means the same however the session has its texts read; null: it is none.
  static FactsPtr own_command(std::string_view text);
  // An entry with these FACTS of a text that was too long to be kept; shared if they are names only.
  FactsPtr long_facts(parser::StatementFacts facts);
  ContextId context(NameContext context);
  const NameContext& context_of(ContextId id) const { return contexts_[id]; }
  // As lb::resolve() takes it; lives until the next call of context().
  lb::ResolveInput input(ContextId context) const;
  // To be called before the texts of a batch are resolved: drops what a change of the catalogue has made doubtful.
  void refresh();
  // Lives until the next call of forget() or refresh(); unknown names are asked for, old answers asked again.
  const Resolution& resolve(const FactsPtr& facts, ContextId context);
  // For facts that no other text will have: lives until the next call.
  const Resolution& resolve_once(const FactsPtr& facts, ContextId context);
  lb::Verification verify(const lb::Unverified& use, ContextId context);
  // Something passed that may have changed the catalogue.
  void catalog_changed();
  void forget();
  const shmem::SharedCatalog& catalog() const { return *catalog_; }

 private:
  struct Key {
    const void* facts;
    ContextId context;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const {
      return std::hash<const void*>()(key.facts) * 31 + key.context;
    }
  };
  void fill(Resolution& resolution, ContextId context);
  bool expired(const Resolution& resolution) const;

  Worker& worker_;
  parser::FactsCache cache_;
  FactsPtr unclassified_;
  std::map<std::string, FactsPtr> long_facts_;  // by kind and names
  std::vector<NameContext> contexts_;
  boost::unordered_flat_map<Key, std::unique_ptr<Resolution>, KeyHash> resolutions_;
  Resolution once_;
  std::uint64_t epoch_ = 0;
  std::unique_ptr<shmem::SharedCatalog> catalog_;
};

}  // namespace weir::child
