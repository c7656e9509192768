#include "lb/resolve.h"

#include <gtest/gtest.h>

#include "lb/catalog_query.h"
#include "test/unit/lb/support.h"

namespace weir::lb {
namespace {

using parser::Name;
using parser::Statement;
using parser::StatementKind;
using shmem::FactKind;

class Resolve : public testing::Test {
 protected:
  Resolve() {
    catalog_.table("public", "t");
    catalog_.view("public", "v");
    catalog_.add(FactKind::Relation, "unlogged", {"public", false, true, false});
    catalog_.add(FactKind::Relation, "triggered", {"public", true, false, false});
    catalog_.add(FactKind::Relation, "pg_class", {"pg_catalog", false, false, true});
    catalog_.add(FactKind::Relation, "tables", {"information_schema", false, false, true});
    catalog_.table("a", "both");
    catalog_.view("b", "both");
    catalog_.table("a", "all_plain");
    catalog_.table("b", "all_plain");
    catalog_.add(FactKind::Relation, "everywhere", {"", false, false, false});
    for (const char* name : {"count", "lower", "nextval", "setseed", "pg_advisory_lock", "now", "query_to_xml"}) {
      catalog_.builtin_function(name);
    }
    catalog_.builtin_function("upper");
    catalog_.user_function("app", "upper");
    catalog_.user_function("public", "f");
    catalog_.add_nothing(FactKind::Function, "nobody");
    for (const char* name : {"=", "<", "<=", ">=", ">", "+"}) catalog_.builtin_operator(name);
    catalog_.builtin_operator("||");
    catalog_.add(FactKind::Operator, "||", {"public", false, false, false});
    catalog_.add(FactKind::Type, "mood", {"public", true, false, false});
    catalog_.add(FactKind::Type, "citext", {"public", false, false, false});
    catalog_.add(FactKind::Type, "record", {"pg_catalog", false, false, true});
    catalog_.add_nothing(FactKind::Function, std::string(kEventTriggers));
  }

  Resolved resolved(const Statement& statement) {
    const ResolveInput input{"db", path_, path_known_, foreign_encoding_};
    return resolve(facts_of(statement), input, policy_, catalog_);
  }

  Resolved reading(Name name) {
    Statement statement = statement_of(StatementKind::Select);
    statement.relations.push_back(std::move(name));
    return resolved(statement);
  }
  Resolved calling(Name name) {
    Statement statement = statement_of(StatementKind::Select);
    statement.functions.push_back(std::move(name));
    return resolved(statement);
  }
  Resolved operating(Name name) {
    Statement statement = statement_of(StatementKind::Select);
    statement.operators.push_back(std::move(name));
    return resolved(statement);
  }
  Resolved casting(Name name) {
    Statement statement = statement_of(StatementKind::Select);
    statement.types.push_back(std::move(name));
    return resolved(statement);
  }
  Resolved writing(Name name, StatementKind kind = StatementKind::Insert) {
    Statement statement = statement_of(kind);
    statement.written_relations.push_back(std::move(name));
    return resolved(statement);
  }

  static void expect_plain(const Resolved& result) {
    EXPECT_EQ(result.verdict, Verdict::Plain) << reason_name(result.reason);
    EXPECT_EQ(result.reason, Reason::PlainRead);
    EXPECT_TRUE(result.missing.empty());
    EXPECT_TRUE(result.unverified.empty());
    EXPECT_FALSE(result.user_functions);
  }
  static void expect_doubt(const Resolved& result, Reason reason) {
    EXPECT_EQ(result.verdict, Verdict::Doubt);
    EXPECT_STREQ(reason_name(result.reason), reason_name(reason));
  }
  static void expect_unknown(const Resolved& result, FactKind kind, const std::string& name) {
    EXPECT_EQ(result.verdict, Verdict::Unknown);
    EXPECT_EQ(result.reason, Reason::CatalogPending);
    ASSERT_EQ(result.missing.size(), 1U);
    EXPECT_EQ(result.missing[0], (Missing{kind, name}));
    EXPECT_EQ(result.unverified.size(), 1U);
    EXPECT_FALSE(result.user_functions);
  }

  FakeCatalog catalog_;
  Policy policy_;
  std::vector<std::string> path_{"public"};
  bool path_known_ = true;
  bool foreign_encoding_ = false;
};

TEST_F(Resolve, NothingNamedIsPlain) { expect_plain(resolved(statement_of(StatementKind::Select))); }

TEST_F(Resolve, APlainTable) { expect_plain(reading({"", "t"})); }
TEST_F(Resolve, APlainTableBySchema) { expect_plain(reading({"public", "t"})); }

TEST_F(Resolve, AViewIsDoubtAndOpaque) {
  const Resolved result = reading({"", "v"});
  expect_doubt(result, Reason::NotPlainRelation);
  EXPECT_TRUE(result.user_functions);
}

TEST_F(Resolve, AnUnloggedTableIsDoubtButHarmless) {
  const Resolved result = reading({"", "unlogged"});
  expect_doubt(result, Reason::NotPlainRelation);
  EXPECT_FALSE(result.user_functions);
  EXPECT_TRUE(result.unverified.empty());
}

TEST_F(Resolve, ATableWithTriggersIsReadPlainly) { expect_plain(reading({"", "triggered"})); }

TEST_F(Resolve, ATimeThatAViewHidesIsTold) {
  catalog_.add(FactKind::Relation, "now_view", {"public", true, false, false, true, false, {}, false, false, false, true});
  const Resolved result = reading({"", "now_view"});
  expect_plain(result);
  EXPECT_TRUE(result.tells_time);
  EXPECT_FALSE(reading({"", "triggered"}).tells_time);
}

TEST_F(Resolve, SystemCatalogsAreTheSameOnEveryNode) {
  for (const Name& name : {Name{"", "pg_class"}, Name{"pg_catalog", "pg_class"}, Name{"pg_catalog", "pg_roles"},
                           Name{"information_schema", "tables"}, Name{"information_schema", "never_asked"}}) {
    const Resolved result = reading(name);
    expect_plain(result);
    EXPECT_TRUE(result.late_names);
  }
}

TEST_F(Resolve, ViewsOfTheNodesOwnStateAreDoubtButHarmless) {
  catalog_.add(FactKind::Relation, "pg_locks", {"pg_catalog", false, false, true});
  for (const Name& name : {Name{"", "pg_locks"}, Name{"pg_catalog", "pg_locks"}, Name{"pg_catalog", "never_asked"},
                           Name{"pg_catalog", "pg_stat_user_tables"}, Name{"pg_toast", "pg_toast_1"}}) {
    const Resolved result = reading(name);
    expect_doubt(result, Reason::SystemCatalog);
    EXPECT_FALSE(result.user_functions) << name.name;
    EXPECT_TRUE(result.missing.empty());
  }
}

TEST_F(Resolve, PgCatalogCountsThoughThePathDoesNotNameIt) {
  catalog_.table("public", "pg_stat");
  catalog_.add(FactKind::Relation, "pg_stat", {"pg_catalog", false, false, true});
  expect_doubt(reading({"", "pg_stat"}), Reason::SystemCatalog);
  expect_plain(reading({"public", "pg_stat"}));
  catalog_.view("public", "pg_class");
  expect_doubt(reading({"", "pg_class"}), Reason::NotPlainRelation);
}

TEST_F(Resolve, AnUnknownRelationIsAskedFor) { expect_unknown(reading({"", "new"}), FactKind::Relation, "new"); }

TEST_F(Resolve, ARelationThatNobodyHasIsDoubt) {
  catalog_.close();
  const Resolved result = reading({"", "new"});
  expect_doubt(result, Reason::UnknownRelation);
  EXPECT_TRUE(result.missing.empty());
  EXPECT_EQ(result.unverified.size(), 1U);  // an open transaction may have made it
  EXPECT_FALSE(result.user_functions);
}

TEST_F(Resolve, ARelationThatIsNotOnThePathIsDoubt) {
  expect_doubt(reading({"", "both"}), Reason::UnknownRelation);
  expect_doubt(reading({"c", "both"}), Reason::UnknownRelation);
}

TEST_F(Resolve, TheSchemaOfAQualifiedNameAloneCounts) {
  expect_plain(reading({"a", "both"}));
  expect_doubt(reading({"b", "both"}), Reason::NotPlainRelation);
}

TEST_F(Resolve, EveryMatchOnThePathMustBePlain) {
  path_ = {"a"};
  expect_plain(reading({"", "both"}));
  path_ = {"a", "b"};  // without USAGE on a the server takes b
  expect_doubt(reading({"", "both"}), Reason::NotPlainRelation);
  expect_plain(reading({"", "all_plain"}));
  path_ = {"b", "a"};
  expect_doubt(reading({"", "both"}), Reason::NotPlainRelation);
}

TEST_F(Resolve, WithoutAKnownPathAllSchemasMustBePlain) {
  path_known_ = false;
  expect_doubt(reading({"", "both"}), Reason::NotPlainRelation);
  expect_plain(reading({"", "all_plain"}));
  expect_plain(reading({"a", "both"}));
}

TEST_F(Resolve, AFactOfAnySchemaIsDoubtForAll) {
  expect_doubt(reading({"", "everywhere"}), Reason::NotPlainRelation);
  expect_doubt(reading({"public", "everywhere"}), Reason::NotPlainRelation);
}

TEST_F(Resolve, TempSchemasAreTemp) {
  for (const char* schema : {"pg_temp", "pg_temp_3"}) expect_doubt(reading({schema, "t"}), Reason::TempObjects);
}

TEST_F(Resolve, NamesThatTheServerWouldCutAreDoubt) {
  const Resolved result = reading({"", std::string(64, 'x')});
  expect_doubt(result, Reason::UnknownRelation);
  EXPECT_TRUE(result.missing.empty());
  EXPECT_TRUE(result.user_functions);
}

TEST_F(Resolve, NamesOutsideAscii) {
  catalog_.table("public", "caf\xC3\xA9");
  expect_plain(reading({"", "caf\xC3\xA9"}));
  foreign_encoding_ = true;
  expect_doubt(reading({"", "caf\xC3\xA9"}), Reason::ForeignEncoding);
  expect_plain(reading({"", "t"}));
}

TEST_F(Resolve, BytesThatAreNoUtf8AreNeverAskedFor) {
  for (const char* name : {"\xFF", "caf\xE9", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF0\x80\x80\x80",
                           "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xC3", "\xE2\x82", "a\x80"}) {
    const Resolved result = reading({"", name});
    EXPECT_EQ(result.verdict, Verdict::Doubt) << name;
    EXPECT_TRUE(result.missing.empty());
  }
  for (const char* name : {"\xC2\x80", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_EQ(reading({"", name}).verdict, Verdict::Unknown) << name;
  }
}

TEST_F(Resolve, AnotherDatabaseIsAnotherCatalogue) {
  Statement statement = statement_of(StatementKind::Select);
  statement.relations.push_back({"", "t"});
  const Resolved result = resolve(facts_of(statement), {"other", path_, true, false}, policy_, catalog_);
  EXPECT_EQ(result.verdict, Verdict::Unknown);
}

TEST_F(Resolve, BuiltinFunctions) {
  expect_plain(calling({"", "count"}));
  expect_plain(calling({"pg_catalog", "lower"}));
  const Resolved result = calling({"", "nextval"});
  expect_doubt(result, Reason::VolatileFunction);
  EXPECT_FALSE(result.user_functions);  // changes a sequence, not the session
}

TEST_F(Resolve, BuiltinFunctionsWithHiddenEffects) {
  for (const char* name : {"setseed", "query_to_xml"}) {
    const Resolved result = calling({"", name});
    expect_doubt(result, Reason::VolatileFunction);
    EXPECT_TRUE(result.user_functions) << name;
  }
  const Resolved lock = calling({"", "pg_advisory_lock"});
  expect_doubt(lock, Reason::VolatileFunction);
  EXPECT_TRUE(lock.session_locks);
  EXPECT_FALSE(lock.user_functions);
}

TEST_F(Resolve, UserFunctions) {
  const Resolved result = calling({"", "f"});
  expect_doubt(result, Reason::UserFunction);
  EXPECT_TRUE(result.user_functions);
}

TEST_F(Resolve, AUserFunctionOfABuiltinsNameCountsIfItCanBeMeant) {
  expect_plain(calling({"", "upper"}));
  expect_plain(calling({"pg_catalog", "upper"}));
  expect_doubt(calling({"app", "upper"}), Reason::UserFunction);
  path_ = {"public", "app"};
  expect_doubt(calling({"", "upper"}), Reason::UserFunction);
  path_known_ = false;
  expect_doubt(calling({"", "upper"}), Reason::UserFunction);
}

TEST_F(Resolve, AllOverloadsThatCanBeMeantMustBeHarmless) {
  catalog_.add(FactKind::Function, "g", {"public", true, false, false, true, true});
  catalog_.add(FactKind::Function, "g", {"app", false, false, false});
  Resolved result = calling({"", "g"});
  expect_plain(result);
  EXPECT_TRUE(result.late_names);
  path_ = {"public", "app"};
  result = calling({"", "g"});
  expect_doubt(result, Reason::UserFunction);
  EXPECT_TRUE(result.user_functions);
  expect_plain(calling({"public", "g"}));
}

TEST_F(Resolve, AQuietFunctionIsDoubtButLeavesTheSessionAsItIs) {
  catalog_.add(FactKind::Function, "g", {"public", false, false, false, true});
  const Resolved result = calling({"", "g"});
  expect_doubt(result, Reason::UserFunction);
  EXPECT_FALSE(result.user_functions);
}

TEST_F(Resolve, ABodyThatMayMeanSomethingElseOnThePathIsDoubt) {
  catalog_.add(FactKind::Function, "g", {"public", true, false, false, true, true, "na\nnb\nqc"});
  for (const std::vector<std::string>& path : {std::vector<std::string>{"public"}, {"public", "ab"}, {}}) {
    path_ = path;
    expect_plain(calling({"public", "g"}));
  }
  for (const std::vector<std::string>& path : {std::vector<std::string>{"a"}, {"public", "b"}}) {
    path_ = path;
    const Resolved result = calling({"public", "g"});
    expect_doubt(result, Reason::UserFunction);
    EXPECT_TRUE(result.user_functions);
  }
  path_ = {"c"};
  const Resolved result = calling({"public", "g"});
  expect_doubt(result, Reason::UserFunction);
  EXPECT_FALSE(result.user_functions);
  path_known_ = false;
  expect_doubt(calling({"public", "g"}), Reason::UserFunction);
}

TEST_F(Resolve, AHarmlessViewIsPlain) {
  catalog_.add(FactKind::Relation, "good", {"public", true, false, false, true});
  expect_plain(reading({"", "good"}));
  const Resolved result = writing({"", "good"});
  EXPECT_TRUE(result.user_functions);
  catalog_.add(FactKind::Relation, "locking", {"public", false, false, false, true});
  const Resolved locking = reading({"", "locking"});
  expect_doubt(locking, Reason::NotPlainRelation);
  EXPECT_FALSE(locking.user_functions);
}

TEST_F(Resolve, FunctionsInPgTempAreOpaque) {
  const Resolved result = calling({"pg_temp", "f"});
  expect_doubt(result, Reason::TempObjects);
  EXPECT_TRUE(result.user_functions);
}

TEST_F(Resolve, FunctionsThatLookNamesUpMayMeetTempObjects) {
  catalog_.builtin_function("to_regclass");
  EXPECT_TRUE(calling({"", "to_regclass"}).late_names);
  EXPECT_FALSE(calling({"", "lower"}).late_names);
}

TEST_F(Resolve, AnExtensionsFunctionInPgCatalogIsTheUsers) {
  catalog_.add(FactKind::Function, "lower", {"pg_catalog", false, false, false});
  expect_doubt(calling({"pg_catalog", "lower"}), Reason::UserFunction);
}

TEST_F(Resolve, FunctionsThatAreNotKnown) {
  expect_unknown(calling({"", "new"}), FactKind::Function, "new");
  expect_unknown(calling({"", "sum"}), FactKind::Function, "sum");  // a user's sum may exist
  const Resolved result = calling({"", "nobody"});
  expect_doubt(result, Reason::UnknownFunction);
  EXPECT_EQ(result.unverified.size(), 1U);
  expect_doubt(calling({"public", "lower"}), Reason::UnknownFunction);
}

TEST_F(Resolve, WriteFunctionListIsDoubtAndNoMore) {
  PolicySettings settings;
  settings.write_function_list = {"lower", "f"};
  policy_ = std::move(compile_policy(settings)).value();
  Resolved result = calling({"", "lower"});
  expect_doubt(result, Reason::WriteFunctionList);
  EXPECT_FALSE(result.user_functions);
  EXPECT_TRUE(calling({"", "f"}).user_functions);
  expect_plain(calling({"", "count"}));
  expect_doubt(calling({"app", "upper"}), Reason::UserFunction);  // what is not listed is still judged
}

TEST_F(Resolve, ReadOnlyFunctionListOverridesTheCatalogue) {
  PolicySettings settings;
  settings.read_only_function_list = {"f", "never_asked"};
  policy_ = std::move(compile_policy(settings)).value();
  expect_plain(calling({"", "f"}));
  // What is listed may tell the time all the same: that is asked, and nothing waits for it.
  Resolved listed = calling({"", "never_asked"});
  EXPECT_EQ(listed.verdict, Verdict::Plain);
  ASSERT_EQ(listed.missing.size(), 1U);
  EXPECT_EQ(listed.missing[0].name, "never_asked");
  catalog_.add(FactKind::Function, "never_asked", {"public", false, false, false, false, false, {}, false, false, false, true});
  listed = calling({"", "never_asked"});
  expect_plain(listed);
  EXPECT_TRUE(listed.tells_time);
  expect_doubt(calling({"", "count"}), Reason::WriteFunctionList);
  EXPECT_FALSE(calling({"", "count"}).user_functions);
}

TEST_F(Resolve, Operators) {
  expect_plain(operating({"", "="}));
  expect_plain(operating({"pg_catalog", "||"}));
  catalog_.add(FactKind::Operator, "===", {"public", true, false, false, true});
  expect_plain(operating({"", "==="}));
  expect_plain(operating({"public", "==="}));
  Resolved result = operating({"", "||"});
  expect_doubt(result, Reason::UserOperator);
  EXPECT_TRUE(result.user_functions);
  expect_doubt(operating({"public", "||"}), Reason::UserOperator);
  expect_unknown(operating({"", "@@@"}), FactKind::Operator, "@@@");
}

TEST_F(Resolve, BetweenStandsForComparisons) {
  for (const char* name : {"BETWEEN", "NOT BETWEEN", "BETWEEN SYMMETRIC", "NOT BETWEEN SYMMETRIC"}) {
    expect_plain(operating({"", name}));
  }
  catalog_.add(FactKind::Operator, ">=", {"public", false, false, false});
  expect_doubt(operating({"", "BETWEEN"}), Reason::UserOperator);
}

TEST_F(Resolve, BetweenAsksForItsComparisons) {
  FakeCatalog empty;
  Statement statement = statement_of(StatementKind::Select);
  statement.operators.push_back({"", "BETWEEN"});
  const Resolved result = resolve(facts_of(statement), {"db", path_, true, false}, policy_, empty);
  EXPECT_EQ(result.verdict, Verdict::Unknown);
  EXPECT_EQ(result.missing.size(), 4U);
}

TEST_F(Resolve, BuiltinTypesNeedNoQuestion) {
  for (const Name& name : {Name{"", "text"}, Name{"pg_catalog", "int4"}, Name{"", "uuid"}, Name{"", "int4[]"}}) {
    expect_plain(casting(name));
  }
  expect_plain(casting({"", "record"}));  // by the catalogue
}

TEST_F(Resolve, ATypeThatAUserMayHaveShadowedIsAskedFor) {
  path_ = {"public", "pg_catalog"};
  expect_unknown(casting({"", "text"}), FactKind::Type, "text");
  path_ = {"pg_catalog", "public"};
  expect_plain(casting({"", "text"}));
  path_known_ = false;
  expect_unknown(casting({"", "text"}), FactKind::Type, "text");
  expect_plain(casting({"pg_catalog", "text"}));
}

TEST_F(Resolve, UserTypes) {
  expect_plain(casting({"", "mood"}));
  expect_plain(casting({"public", "mood[]"}));
  Resolved result = casting({"", "citext"});
  expect_doubt(result, Reason::UserType);
  EXPECT_TRUE(result.user_functions);
  expect_unknown(casting({"", "new[]"}), FactKind::Type, "new");
  catalog_.close();
  expect_doubt(casting({"", "new"}), Reason::UserType);
}

TEST_F(Resolve, TypesWhoseValuesAreNamesMayMeetTempObjects) {
  for (const char* name : {"regclass", "regtype", "regproc"}) {
    const Resolved result = casting({"", name});
    expect_plain(result);
    EXPECT_TRUE(result.late_names);
  }
  path_known_ = false;
  catalog_.add(FactKind::Type, "regclass", {"pg_catalog", false, false, true});
  expect_plain(casting({"", "regclass"}));
  EXPECT_TRUE(casting({"", "regclass"}).late_names);
}

TEST_F(Resolve, WritesAreVerifiedByTheirOwnFact) {
  Resolved result = writing({"", "t"});
  EXPECT_TRUE(result.writes_verified);
  EXPECT_FALSE(result.user_functions);
  result = writing({"", "unlogged"});
  EXPECT_TRUE(result.writes_verified);
  result = writing({"", "triggered"});
  EXPECT_FALSE(result.writes_verified);
  EXPECT_TRUE(result.user_functions);
  result = writing({"", "v"});
  EXPECT_TRUE(result.user_functions);
}

TEST_F(Resolve, AnUnknownWriteIsUnverified) {
  const Resolved result = writing({"", "new"});
  EXPECT_FALSE(result.writes_verified);
  EXPECT_FALSE(result.user_functions);
  ASSERT_EQ(result.unverified.size(), 1U);
  EXPECT_EQ(result.unverified[0], (Unverified{NameUse::Written, {"", "new"}}));
  EXPECT_EQ(result.missing.size(), 1U);
}

TEST_F(Resolve, DdlRunsNoTriggersOfTheTablesItNames) {
  for (const StatementKind kind : {StatementKind::Ddl, StatementKind::Lock, StatementKind::Vacuum}) {
    const Resolved result = writing({"", "triggered"}, kind);
    EXPECT_FALSE(result.user_functions);
    EXPECT_TRUE(result.unverified.empty());
    EXPECT_TRUE(result.missing.empty());
  }
  EXPECT_TRUE(writing({"", "triggered"}, StatementKind::OtherWrite).user_functions);  // TRUNCATE
}

TEST_F(Resolve, DdlFiresEventTriggers) {
  EXPECT_FALSE(resolved(statement_of(StatementKind::Ddl)).user_functions);
  catalog_.add(FactKind::Function, std::string(kEventTriggers), {"public", false, false, false});
  EXPECT_TRUE(resolved(statement_of(StatementKind::Ddl)).user_functions);
  Statement into = statement_of(StatementKind::Select);
  into.select_into = true;
  EXPECT_TRUE(resolved(into).user_functions);
  EXPECT_FALSE(resolved(statement_of(StatementKind::Insert)).user_functions);
}

TEST_F(Resolve, UnknownEventTriggersAreUnverified) {
  FakeCatalog empty;
  const auto ddl = facts_of(statement_of(StatementKind::Ddl));
  const Resolved result = resolve(ddl, {"db", path_, true, false}, policy_, empty);
  ASSERT_EQ(result.missing.size(), 1U);
  EXPECT_EQ(result.missing[0], (Missing{FactKind::Function, std::string(kEventTriggers)}));
  ASSERT_EQ(result.unverified.size(), 1U);
  EXPECT_EQ(result.unverified[0].use, NameUse::EventTriggers);
}

TEST_F(Resolve, DdlReadsNothingUnlessItMakesATableOfAQuery) {
  for (const StatementKind kind : {StatementKind::Ddl, StatementKind::OtherWrite, StatementKind::Lock}) {
    Statement statement = statement_of(kind);
    statement.relations = {{"", "v"}, {"", "new"}};
    const Resolved result = resolved(statement);
    EXPECT_FALSE(result.user_functions);
    EXPECT_TRUE(result.unverified.empty());
  }
  Statement as = statement_of(StatementKind::Ddl);
  as.select_into = true;
  as.relations = {{"", "v"}};
  EXPECT_TRUE(resolved(as).user_functions);
}

TEST_F(Resolve, DdlNamesTypesWithoutRunningThem) {
  Statement statement = statement_of(StatementKind::Ddl);
  statement.types.push_back({"", "citext"});
  EXPECT_FALSE(resolved(statement).user_functions);
}

TEST_F(Resolve, DoubtCountsBeforeTheUnknownAndAllMissingNamesAreListed) {
  Statement statement = statement_of(StatementKind::Select);
  statement.relations = {{"", "new"}, {"", "v"}, {"", "new"}, {"x", "new"}};
  statement.functions = {{"", "sum"}};
  const Resolved result = resolved(statement);
  expect_doubt(result, Reason::NotPlainRelation);
  EXPECT_EQ(result.missing, (std::vector<Missing>{{FactKind::Relation, "new"}, {FactKind::Function, "sum"}}));
  EXPECT_EQ(result.unverified.size(), 3U);  // new, x.new, sum()
}

TEST_F(Resolve, TheFirstDoubtIsTheReason) {
  Statement statement = statement_of(StatementKind::Select);
  statement.relations = {{"pg_catalog", "pg_locks"}, {"", "v"}};
  statement.functions = {{"", "f"}};
  expect_doubt(resolved(statement), Reason::SystemCatalog);
}

TEST_F(Resolve, AllStatementsOfATextCount) {
  parser::StatementFacts facts = facts_of(statement_of(StatementKind::Select));
  Statement second = statement_of(StatementKind::Select);
  second.relations.push_back({"", "v"});
  facts.statements.push_back(second);
  expect_doubt(resolve(facts, {"db", path_, true, false}, policy_, catalog_), Reason::NotPlainRelation);
}

TEST_F(Resolve, TooManyNamesAreDoubtAndOpaque) {
  Statement statement = statement_of(StatementKind::Select);
  for (int i = 0; i < 5000; ++i) statement.relations.push_back({"", "t"});
  Resolved result = resolved(statement);
  expect_doubt(result, Reason::TooManyNames);
  EXPECT_TRUE(result.user_functions);
  statement.relations.resize(400);
  expect_plain(resolved(statement));
}

TEST_F(Resolve, VerifyTellsLater) {
  const ResolveInput input{"db", path_, true, false};
  std::vector<Missing> missing;
  const auto verdict = [&](NameUse use, const char* name) {
    return verify({use, {"", name}}, input, policy_, catalog_, &missing);
  };
  EXPECT_EQ(verdict(NameUse::Written, "t"), Verification::Harmless);
  EXPECT_EQ(verdict(NameUse::Written, "triggered"), Verification::Opaque);
  EXPECT_EQ(verdict(NameUse::Read, "triggered"), Verification::Harmless);
  EXPECT_EQ(verdict(NameUse::Function, "f"), Verification::Opaque);
  EXPECT_EQ(verdict(NameUse::Function, "nextval"), Verification::Harmless);
  EXPECT_EQ(verdict(NameUse::EventTriggers, ""), Verification::Harmless);
  EXPECT_TRUE(missing.empty());
  EXPECT_EQ(verdict(NameUse::Written, "new"), Verification::Unknown);
  EXPECT_EQ(missing, (std::vector<Missing>{{FactKind::Relation, "new"}}));
  EXPECT_EQ(verify({NameUse::Written, {"", "new"}}, input, policy_, catalog_), Verification::Unknown);
}

}  // namespace
}  // namespace weir::lb
