// The few facts about a session that routing may use. Filled by the child from its SessionState.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parser/facts.h"

namespace weir::lb {

struct SessionRouting {
  // 'I', 'T' or 'E' as the client was last told.
  char transaction_status = 'I';
  // The open block is on a standby: READ COMMITTED, and only plain reads have run in it.
  bool block_on_standby = false;
  // The block that the client has begun is open nowhere yet; what BEGIN and SET TRANSACTION have said of it.
  bool block_held = false;
  parser::TransactionModes block_modes;
  // Of the open block, if it has failed: with which one that is chained to it begins.
  parser::TransactionModes chained_modes;
  // The block is open on the primary in a server known to be READ COMMITTED, has changed nothing of the session's state,
  // and disable_load_balance_on_write lets plain reads run on a standby beside it.
  bool reads_aside = false;
  // Something was written, and disable_load_balance_on_write keeps on the primary since: transactions that may write, or
  // all reads.
  bool transactions_kept = false;
  bool reads_kept = false;
  // A block opened by a plain BEGIN would not be READ COMMITTED READ WRITE for certain (default_transaction_*,
  // SET SESSION CHARACTERISTICS, options).
  bool unusual_isolation = false;
  // default_transaction_isolation may be SERIALIZABLE, which a standby refuses for every statement.
  bool serializable_default = false;
  // Sticky reasons that keep the session on the primary:
  bool may_have_temp = false;      // a temp object may exist
  // Every temporary object that there may be is a relation with one of these names (or its row type), made by statements
  // that told so, and runs no code that is not known; valid only if known.
  bool temp_names_known = false;
  std::vector<std::string> temp_names;
  bool opaque_state = false;       // session state may differ from what is recorded (DO, user functions, ...)
  bool open_cursor = false;        // DECLAREd and not closed
  bool listening = false;
  bool nonstandard_strings = false;   // standard_conforming_strings = off
  bool unsafe_encoding = false;       // client_encoding BIG5, GBK, GB18030, SJIS, SHIFT_JIS_2004, UHC, JOHAB
  bool replication = false;           // replication connection
  // Schemas searched, as the session's search_path says, "$user" already replaced; valid only if known.
  bool search_path_known = false;
  std::vector<std::string> search_path;
  std::string database;
  // Parameters whose SHOW is the same on every node of this session because the session itself set them.
  std::vector<std::string> session_parameters;
  // Relations written by this session whose triggers, rules or defaults are not yet known to be harmless.
  std::vector<parser::Name> unverified_writes;
  // Other names used on the primary (functions, views, operators) of which it is not yet known whether they change the
  // session's state: see Effects::unverified.
  bool unverified_effects = false;
  // Bound to its primary connection for a reason that only the child knows.
  bool pinned = false;
};

}  // namespace weir::lb
