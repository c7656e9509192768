// What the catalogue says of one name: its part in whether a read is plain, and in what the session's state may become.
#pragma once

#include <string_view>

#include "common/shmem/catalog_view.h"
#include "lb/policy.h"
#include "lb/resolve.h"
#include "lb/target.h"

namespace weir::lb {

// What one name means for a read on a standby (`verdict`, `reason`) and for the session's state (`effect`).
struct Judgement {
  Verdict verdict = Verdict::Plain;
  Reason reason = Reason::PlainRead;
  Verification effect = Verification::Harmless;
  bool session_lock = false;
  bool must_ask = false;  // the catalogue has not been asked for it
  bool late = false;      // names are looked up when it runs: temporary objects may be met
  bool draws = false;     // Written: its defaults may draw from sequences, or ask what was drawn
  bool clock = false;     // the time of the transaction may be told by what runs with it
  bool beyond = false;    // it may reach relations that the text does not name (which it reads, unless it is no plain read)
};

// Judges names for one text. INPUT, POLICY and CATALOG must outlive it.
class Judge {
 public:
  Judge(const ResolveInput& input, const Policy& policy, const shmem::CatalogView& catalog)
      : input_(input), policy_(policy), catalog_(catalog) {}

  Judgement judge(NameUse use, const parser::Name& name) const;

 private:
  bool cannot_ask(const parser::Name& name) const;
  bool may_mean(const parser::Name& name, std::string_view schema) const;
  bool catalog_first(const parser::Name& name) const;
  bool on_path(std::string_view schema) const;
  void add_user_fact(const shmem::SchemaFact& fact, Reason reason, Judgement& result) const;
  Reason encoding_or(Reason reason) const { return input_.foreign_encoding ? Reason::ForeignEncoding : reason; }

  Judgement relation(const parser::Name& name, bool written) const;
  Judgement function(const parser::Name& name) const;
  Judgement function_by_catalog(const parser::Name& name) const;
  Judgement operator_(const parser::Name& name) const;
  Judgement type(const parser::Name& name) const;
  Judgement event_triggers() const;

  const ResolveInput& input_;
  const Policy& policy_;
  const shmem::CatalogView& catalog_;
};

}  // namespace weir::lb
