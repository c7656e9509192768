// The tests' own ground: servers that replicate, die and come back.
#include <gtest/gtest.h>

#include "test/support/cluster.h"
#include "test/support/connection.h"
#include "test/support/raw_client.h"
#include "test/support/wait.h"

namespace weir::test {
namespace {

TEST(cluster, shared_one_replicates_before_commit_returns) {
  Cluster& cluster = Cluster::shared();
  Connection primary(cluster.conninfo(0));
  ASSERT_TRUE(primary.ok()) << primary.error();
  const std::string id = primary.value("INSERT INTO written(v) VALUES ('seen') RETURNING id");
  for (int node = 1; node < kNodes; ++node) {
    Connection standby(cluster.conninfo(node));
    EXPECT_EQ(standby.value("SELECT pg_is_in_recovery()"), "t");
    EXPECT_EQ(standby.value("SELECT v FROM written WHERE id = " + id), "seen");
    EXPECT_EQ(standby.exec("INSERT INTO written(v) VALUES ('x')").sqlstate, "25006");
  }
}

TEST(cluster, node_dies_freezes_and_comes_back) {
  Cluster cluster;
  cluster.kill_hard(2);
  EXPECT_FALSE(cluster.answers(2));
  cluster.start(2);
  cluster.wait_streaming();
  cluster.freeze(1);
  Connection primary(cluster.conninfo(0));
  EXPECT_EQ(primary.value("SELECT count(*) FROM plain"), "100");
  cluster.thaw(1);
  cluster.wait_replayed();
  cluster.kill_hard(0);
  EXPECT_FALSE(cluster.answers(0));
  cluster.start(0);
  cluster.wait_streaming();
  cluster.stop(0);
  cluster.promote(1);
  Connection promoted(cluster.conninfo(1));
  EXPECT_EQ(promoted.value("SELECT pg_is_in_recovery()"), "f");
}

TEST(cluster, raw_client_speaks_the_protocol) {
  RawClient client(Cluster::shared().port(0));
  client.login();
  EXPECT_EQ(outline(client.ask(msg::query("SELECT v FROM plain WHERE id = 1"))),
            "T D:row 1 C:SELECT 1 Z:I");
  EXPECT_EQ(outline(client.ask(msg::parse("", "SELECT $1::int") + msg::bind("", "", {"7"}) +
                               msg::execute("") + msg::sync())),
            "1 2 D:7 C:SELECT 1 Z:I");
  EXPECT_EQ(outline(client.ask(msg::query("SELEC"))), "E:42601 Z:I");
}

} // namespace
} // namespace weir::test
