#include "child/resolver.h"

#include <algorithm>

#include "child/catalog_lookup.h"
#include "child/worker.h"
#include "common/config/config.h"
#include "common/shmem/mapping.h"
#include "parser/own_command.h"

namespace weir::child {
namespace {

constexpr std::size_t kMaxResolutions = 20000;
constexpr std::size_t kMaxContexts = 10000;
constexpr std::size_t kMaxLongFacts = 1000;

std::uint32_t seconds(Monotonic now) {
  return static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count());
}

}  // namespace

Resolver::Resolver(Worker& worker) : worker_(worker) {
  auto unknown = std::make_shared<parser::Entry>();
  unknown->facts.statements.emplace_back();
  unknown->facts.statements.back().kind = parser::StatementKind::Unknown;
  unclassified_ = std::move(unknown);
  catalog_ = std::make_unique<shmem::SharedCatalog>(shmem::CatalogFacts::attach(worker.context().mapping->catalog_region()));
}

Resolver::~Resolver() = default;

FactsPtr Resolver::facts(std::string_view text) { return cache_.get(text); }

FactsPtr Resolver::own_command(std::string_view text) {
  auto own = parser::read_own_command(text, true);
  if (!own) return nullptr;
  auto entry = std::make_shared<parser::Entry>();
  entry->facts.exact_text_only = true;
  entry->facts.statements.push_back(std::move(*own));
  return entry;
}

FactsPtr Resolver::long_facts(parser::StatementFacts facts) {
  const parser::Statement& statement = facts.statements.front();
  if (statement.kind == parser::StatementKind::Unknown) return unclassified_;
  if (!facts.runs.empty() || parser::kind_and_names(statement) != statement) {
    auto entry = std::make_shared<parser::Entry>();
    entry->facts = std::move(facts);
    return entry;
  }
  std::string key = std::to_string(static_cast<int>(statement.kind));
  for (const auto* names : {&statement.relations, &statement.written_relations, &statement.functions, &statement.operators, &statement.types}) {
    key += '\n';
    for (const parser::Name& name : *names) ((((key += '\t') += name.schema) += '\t') += name.name);
  }
  if (long_facts_.size() >= kMaxLongFacts) long_facts_.clear();
  FactsPtr& slot = long_facts_[std::move(key)];
  if (slot == nullptr) {
    auto entry = std::make_shared<parser::Entry>();
    entry->facts = std::move(facts);
    slot = std::move(entry);
  }
  return slot;
}

ContextId Resolver::context(NameContext context) {
  const auto it = std::find(contexts_.begin(), contexts_.end(), context);
  if (it != contexts_.end()) return static_cast<ContextId>(it - contexts_.begin());
  if (contexts_.size() >= kMaxContexts) {
    // More search paths than anybody has: the context without one is always right.
    context.search_path_known = false;
    context.search_path.clear();
    const auto plain = std::find(contexts_.begin(), contexts_.end(), context);
    if (plain != contexts_.end()) return static_cast<ContextId>(plain - contexts_.begin());
  }
  contexts_.push_back(std::move(context));
  return static_cast<ContextId>(contexts_.size() - 1);
}

lb::ResolveInput Resolver::input(ContextId context) const {
  const NameContext& names = contexts_[context];
  return {names.database, names.search_path, names.search_path_known, names.foreign_encoding};
}

void Resolver::fill(Resolution& resolution, ContextId context) {
  catalog_->set_now(seconds(worker_.loop().now()));
  catalog_->set_max_age(static_cast<std::uint32_t>(worker_.config().relcache_expire));
  resolution.at = seconds(worker_.loop().now());
  resolution.resolved = lb::resolve(resolution.facts->facts, input(context), worker_.policy(), *catalog_);
  resolution.effects = lb::effects(resolution.facts->facts, resolution.resolved);
  if (!resolution.resolved.missing.empty()) worker_.catalog_lookup().want(contexts_[context].database, resolution.resolved.missing);
}

void Resolver::refresh() {
  const std::uint64_t epoch = catalog_->epoch();
  if (epoch == epoch_ && resolutions_.size() <= kMaxResolutions) return;
  resolutions_.clear();
  epoch_ = epoch;
}

const Resolution& Resolver::resolve(const FactsPtr& facts, ContextId context) {
  auto& slot = resolutions_[Key{facts.get(), context}];
  if (slot == nullptr) {
    slot = std::make_unique<Resolution>();
    slot->facts = facts;  // keeps the key's address from being used again
    fill(*slot, context);
  } else if (!slot->resolved.missing.empty() || expired(*slot)) {
    fill(*slot, context);  // perhaps it is known by now, or known better
  }
  return *slot;
}

const Resolution& Resolver::resolve_once(const FactsPtr& facts, ContextId context) {
  once_ = Resolution{};
  once_.facts = facts;
  fill(once_, context);
  return once_;
}

bool Resolver::expired(const Resolution& resolution) const {
  const auto limit = worker_.config().relcache_expire;
  return limit > 0 && seconds(worker_.loop().now()) - resolution.at >= static_cast<std::uint32_t>(limit);
}

lb::Verification Resolver::verify(const lb::Unverified& use, ContextId context) {
  catalog_->set_now(seconds(worker_.loop().now()));
  std::vector<lb::Missing> missing;
  const lb::Verification verdict = lb::verify(use, input(context), worker_.policy(), *catalog_, &missing);
  if (!missing.empty()) worker_.catalog_lookup().want(contexts_[context].database, missing);
  return verdict;
}

void Resolver::catalog_changed() {
  shmem::CatalogFacts::attach(worker_.context().mapping->catalog_region()).bump_epoch();
}

void Resolver::forget() { resolutions_.clear(); }

}  // namespace weir::child
