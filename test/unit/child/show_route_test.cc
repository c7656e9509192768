#include "child/show_route.h"

#include <gtest/gtest.h>

namespace weir::child {
namespace {

using lb::Reason;
using lb::Scope;

lb::Target target(Scope scope, Reason reason, Reason cause, int node = -1, bool standby = false) {
  lb::Target result;
  result.scope = scope;
  result.reason = reason;
  result.cause = cause;
  result.node = node;
  result.prefer_standby = standby;
  return result;
}
lb::Target target(Scope scope) { return target(scope, Reason::PlainRead, Reason::PlainRead); }

class RouteNodes : public ::testing::Test {
 protected:
  RouteNodes() {
    view_.count = 4;
    view_.primary = 0;
    for (int id = 0; id < 4; ++id) {
      shmem::Node& node = view_.nodes[static_cast<std::size_t>(id)];
      node.port = 5432;
      node.weight = id == 3 ? 0 : 1;
      node.role = id == 0 ? shmem::NodeRole::Primary : shmem::NodeRole::Standby;
      node.status = shmem::NodeStatus::Up;
    }
  }
  using Ids = std::vector<int>;
  Ids nodes(const lb::Target& of, int held = -1, int reader = -1) const { return route_nodes(of, view_, held, reader, excluded_); }

  shmem::NodeView view_;
  lb::NodeSet excluded_;
};

TEST_F(RouteNodes, by_scope) {
  EXPECT_EQ(nodes(target(Scope::Primary)), Ids{0});
  EXPECT_EQ(nodes(target(Scope::Local)), Ids{});
  EXPECT_EQ(nodes(target(Scope::SameNode), 2), Ids{2});
  EXPECT_EQ(nodes(target(Scope::SameNode)), Ids{0});
  EXPECT_EQ(nodes(target(Scope::Node, Reason::HintNode, Reason::HintNode, 1)), Ids{1});
  EXPECT_EQ(nodes(target(Scope::Node, Reason::HintNode, Reason::HintNode, 9)), Ids{0});
}

TEST_F(RouteNodes, any_readable_is_drawn_among_those_with_weight) {
  EXPECT_EQ(nodes(target(Scope::AnyReadable)), (Ids{0, 1, 2}));
  const lb::Target standby = target(Scope::AnyReadable, Reason::HintStandby, Reason::PlainRead, -1, true);
  EXPECT_EQ(nodes(standby), (Ids{1, 2}));
  EXPECT_EQ(nodes(target(Scope::AnyReadable), -1, 2), Ids{2});  // the session's own
  EXPECT_EQ(nodes(standby, -1, 0), (Ids{1, 2}));                // the primary is no standby
  excluded_.set(1);
  EXPECT_EQ(nodes(target(Scope::AnyReadable)), (Ids{0, 2}));
  EXPECT_EQ(nodes(target(Scope::Node, Reason::HintNode, Reason::HintNode, 1)), Ids{0});
}

TEST_F(RouteNodes, without_what_is_needed) {
  view_.nodes[1].status = view_.nodes[2].status = shmem::NodeStatus::Down;
  EXPECT_EQ(nodes(target(Scope::AnyReadable)), Ids{0});
  EXPECT_EQ(nodes(target(Scope::AnyReadable, Reason::HintStandby, Reason::PlainRead, -1, true)), Ids{0});
  EXPECT_EQ(nodes(target(Scope::AnyReadable), -1, 2), Ids{0});  // the drawn one is down
  view_.primary = -1;
  view_.nodes[0].status = shmem::NodeStatus::Down;
  EXPECT_EQ(nodes(target(Scope::Primary)), Ids{});
  EXPECT_EQ(nodes(target(Scope::AnyReadable)), Ids{});
}

TEST(ShowRoute, one_row_as_long_as_the_columns) {
  RouteAnswer answer;
  answer.target = target(Scope::Primary, Reason::MultiStatement, Reason::UserFunction);
  answer.nodes = {0};
  answer.statements = 2;
  answer.names = {{lb::NameUse::Read, {"s", "t"}, lb::Verdict::Plain, Reason::PlainRead},
                  {lb::NameUse::Function, {"", "f"}, lb::Verdict::Doubt, Reason::UserFunction},
                  {lb::NameUse::Type, {"", "y"}, lb::Verdict::Unknown, Reason::CatalogPending}};
  answer.session = {"it may have temporary objects"};
  answer.dry_run = true;
  const admin::Rowset rows = show_route(answer);
  ASSERT_EQ(rows.rows.size(), 1U);
  ASSERT_EQ(rows.rows[0].size(), rows.columns.size());
  const auto cell = [&](std::size_t i) { return rows.rows[0][i].value(); };
  EXPECT_EQ(cell(0), "primary");
  EXPECT_EQ(cell(1), "0");
  EXPECT_EQ(cell(2), "MultiStatement");
  EXPECT_EQ(cell(3), "several statements that are not all plain reads: calls a user-defined function");
  EXPECT_EQ(cell(4), "UserFunction");
  EXPECT_EQ(cell(5), "2");
  EXPECT_EQ(cell(6),
            "relation s.t: known, harmless\nfunction f: known, UserFunction\ntype y: not known yet\n"
            "session: it may have temporary objects\n"
            "routing_dry_run: it would be sent to the primary all the same");
  EXPECT_EQ(rows.columns[5].type, admin::kInt4);
}

TEST(ShowRoute, nothing_known) {
  RouteAnswer answer;
  answer.target = target(Scope::AnyReadable, Reason::NothingToRun, Reason::NothingToRun);
  answer.nodes = {1, 2};
  const admin::Rowset rows = show_route(answer);
  EXPECT_EQ(rows.rows[0][0], "any");
  EXPECT_EQ(rows.rows[0][1], "1,2");
  EXPECT_EQ(rows.rows[0][6], "");
}

}  // namespace
}  // namespace weir::child
