#include "parser/names.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "parser/hints.h"

namespace weir::parser {
namespace {

TEST(Names, DateWords) {
  for (const std::string_view text : {"now", "NOW", " now ", "today 12:00", "tomorrow", "YesterDay",
                                      "now5", "5now", "\xc3\xa9now", "2020 now"}) {
    EXPECT_TRUE(has_date_word(text)) << text;
  }
  for (const std::string_view text :
       {"", "know", "nowhere", "todays", "to day", "no w", "2020-01-01", "t", "n"}) {
    EXPECT_FALSE(has_date_word(text)) << text;
  }
  EXPECT_TRUE(has_date_word("now" + std::string(125, ' ')));
  EXPECT_FALSE(has_date_word("now" + std::string(126, ' '))); // longer than any date
}

TEST(Names, TempSchemas) {
  for (const std::string_view text :
       {"pg_temp", "PG_TEMP", "pg_temp_3", "xpg_temp", "a, pg_temp", "_pg_temp", "__pg_temp"}) {
    EXPECT_TRUE(contains_temp(text)) << text;
  }
  for (const std::string_view text :
       {"", "_", "p_temp", "pg_tem", "pgtemp", "pg-temp", "g_temp", "_temp", "pg_"}) {
    EXPECT_FALSE(contains_temp(text)) << text;
  }
}

TEST(Names, Functions) {
  EXPECT_TRUE(is_now_like("now"));
  EXPECT_TRUE(is_now_like("txid_current"));
  EXPECT_FALSE(is_now_like("nowhere"));
  EXPECT_TRUE(literal_matters("set_config"));
  EXPECT_TRUE(literal_matters("dblink_exec"));
  EXPECT_TRUE(literal_matters("pg_try_advisory_xact_lock"));
  EXPECT_FALSE(literal_matters("lower"));
  EXPECT_TRUE(is_reg_type("regclass"));
  EXPECT_FALSE(is_reg_type("region"));
}

TEST(Hints, WhereTheStatementBegins) {
  const std::pair<std::string_view, std::size_t> rows[] = {{"", 0},
                                                           {"SELECT", 0},
                                                           {"  SELECT", 2},
                                                           {"/**/SELECT", 4},
                                                           {"-- x", 4},
                                                           {"-- x\nSELECT", 5},
                                                           {"/* x", 4},
                                                           {"- 1", 0},
                                                           {"/ 1", 0},
                                                           {"/* /* */ */ x", 12},
                                                           {"/*NO LOAD BALANCE*/", 19}};
  for (const auto& [text, length] : rows)
    EXPECT_EQ(read_lead(text).length, length) << text;
}

TEST(Hints, ACommentWithoutEndIsNone) {
  EXPECT_EQ(read_lead("/*NO LOAD BALANCE").hint.kind, Hint::Kind::None);
  EXPECT_EQ(read_lead("/*NO LOAD BALANCExx").hint.kind, Hint::Kind::None);
  EXPECT_EQ(read_lead("/*/").hint.kind, Hint::Kind::None);
  EXPECT_EQ(read_lead("/*NO LOAD BALANCE*/").hint.kind, Hint::Kind::NoLoadBalance);
}

} // namespace
} // namespace weir::parser
