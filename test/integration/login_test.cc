// Who is let in: pgweir asks of a client what the primary asked of pgweir, and never admits whom
// the server would not.
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "test/support/pgweir.h"
#include "test/support/raw_client.h"
#include "test/support/wait.h"

namespace weir::test {
namespace {

using namespace msg; // NOLINT: the builders read as the protocol's own names

class LoginTest : public ::testing::Test {
protected:
  std::string login(Pgweir& weir, const std::string& user, const std::string& password) {
    Connection client(weir.conninfo(user) +
                      (password.empty() ? "" : " password='" + password + "'") +
                      " sslmode=disable");
    if (!client.ok())
      return client.error();
    // On a standby as well, with the same identity.
    for (int i = 0; i < 2; ++i) {
      if (client.value("SELECT v FROM plain WHERE id = 1") != "row 1")
        return "no answer";
    }
    if (client.value("/*pgweir: node=1*/ SELECT v FROM plain WHERE id = 2") != "row 2")
      return "no answer from node 1";
    return client.value("SELECT current_user") == user ? "in" : "wrong user";
  }
  // The method that a client is asked for: the code of the first Authentication message.
  static int asked(const Pgweir& weir, const std::string& user) {
    RawClient client(weir.port());
    client.send(startup({{"user", user}, {"database", "app"}}));
    const auto message = client.read();
    if (!message || message->tag != 'R' || message->body.size() < 4)
      return -1;
    return message->body[3];
  }
  Cluster& cluster_ = Cluster::shared();
};

TEST_F(LoginTest, trust_needs_no_password) {
  Pgweir weir(cluster_);
  EXPECT_EQ(login(weir, "weir_trust", ""), "in");
  EXPECT_EQ(login(weir, "weir_trust", "anything"), "in");
}

TEST_F(LoginTest, passwords_from_pool_passwd) {
  Pgweir weir(cluster_, {}, Pgweir::Unstarted{});
  weir.add_file(
      "pool_passwd",
      "weir_scram:TEXTscram secret\nweir_md5:TEXTmd5 secret\nweir_clear:TEXTclear secret\n");
  weir.start();
  for (int round = 0; round < 3; ++round) { // the first login asks the server, later ones do not
    EXPECT_EQ(login(weir, "weir_scram", "scram secret"), "in");
    EXPECT_EQ(login(weir, "weir_md5", "md5 secret"), "in");
    EXPECT_EQ(login(weir, "weir_clear", "clear secret"), "in");
    EXPECT_NE(login(weir, "weir_scram", "wrong").find("password authentication failed"),
              std::string::npos);
    EXPECT_NE(login(weir, "weir_md5", "wrong").find("password authentication failed"),
              std::string::npos);
    EXPECT_NE(login(weir, "weir_clear", "wrong").find("password authentication failed"),
              std::string::npos);
    EXPECT_NE(login(weir, "weir_scram", "").find("no password supplied"), std::string::npos);
  }
  EXPECT_EQ(asked(weir, "weir_scram"), 10);
}

TEST_F(LoginTest, md5_hash_in_pool_passwd_serves_md5_roles) {
  Pgweir weir(cluster_, {}, Pgweir::Unstarted{});
  const std::string hash =
      Connection(cluster_.conninfo(0, "postgres", "app"))
          .value("SELECT rolpassword FROM pg_authid WHERE rolname = 'weir_md5'");
  weir.add_file("pool_passwd", "weir_md5:" + hash + "\n");
  weir.start();
  EXPECT_EQ(login(weir, "weir_md5", "md5 secret"), "in");
  EXPECT_NE(login(weir, "weir_md5", "wrong").find("password authentication failed"),
            std::string::npos);
}

// As Pgpool-II's pg_enc writes them, with the key "sesame".
TEST_F(LoginTest, secrets_encrypted_with_a_key_file) {
  Pgweir weir(cluster_, {}, Pgweir::Unstarted{});
  weir.add_file("pool_passwd", "weir_scram:AESnU3bhlIfgUkG8qiDVrmGMA==\n");
  weir.add_file("key", "sesame\n");
  ::setenv("PGPOOLKEYFILE", (weir.folder() + "/key").c_str(), 1);
  weir.start();
  ::unsetenv("PGPOOLKEYFILE");
  EXPECT_EQ(login(weir, "weir_scram", "scram secret"), "in");
  EXPECT_NE(login(weir, "weir_scram", "wrong").find("password authentication failed"),
            std::string::npos);
}

TEST_F(LoginTest, encrypted_secrets_without_their_key_let_nobody_in) {
  Pgweir weir(cluster_, {}, Pgweir::Unstarted{});
  weir.add_file("pool_passwd", "weir_scram:AESnU3bhlIfgUkG8qiDVrmGMA==\n");
  ::setenv("PGPOOLKEYFILE", "/nowhere", 1);
  weir.start();
  ::unsetenv("PGPOOLKEYFILE");
  EXPECT_NE(login(weir, "weir_scram", "scram secret"), "in");
  EXPECT_TRUE(weir.logged("the secret of user \"weir_scram\" cannot be used"));
}

TEST_F(LoginTest, pgbouncers_userlist) {
  Pgweir weir(cluster_, {}, Pgweir::Unstarted{});
  weir.add_file("pool_passwd",
                "\"weir_scram\" \"scram secret\"\n; a comment\n\"weir_md5\" \"md5 secret\"\n");
  weir.start();
  EXPECT_EQ(login(weir, "weir_scram", "scram secret"), "in");
  EXPECT_EQ(login(weir, "weir_md5", "md5 secret"), "in");
}

TEST_F(LoginTest, unknown_to_pool_passwd_is_refused) {
  Pgweir weir(cluster_, {}, Pgweir::Unstarted{});
  weir.add_file("pool_passwd", "weir_md5:TEXTmd5 secret\n");
  weir.start();
  EXPECT_NE(login(weir, "weir_scram", "scram secret"), "in");
  EXPECT_NE(login(weir, "weir_clear", "clear secret"), "in");
  EXPECT_EQ(login(weir, "weir_md5", "md5 secret"), "in");
}

TEST_F(LoginTest, clear_text_where_it_is_allowed) {
  Pgweir weir(cluster_, {{"allow_clear_text_frontend_auth", "on"}});
  EXPECT_EQ(login(weir, "weir_scram", "scram secret"), "in");
  EXPECT_EQ(login(weir, "weir_md5", "md5 secret"), "in");
  EXPECT_EQ(login(weir, "weir_clear", "clear secret"), "in");
  EXPECT_NE(login(weir, "weir_scram", "wrong").find("password authentication failed"),
            std::string::npos);
  EXPECT_EQ(asked(weir, "weir_scram"), 3);
  EXPECT_EQ(login(weir, "weir_trust", ""), "in");
}

// Who has a password to be tried waits for a login of its own: the connection of another that comes free proves nothing.
TEST_F(LoginTest, a_password_is_tried_by_a_new_login_also_of_those_who_wait) {
  Pgweir weir(cluster_, {{"allow_clear_text_frontend_auth", "on"},
                         {"pool_mode", "'transaction'"},
                         {"num_init_children", "1"},
                         {"load_balance_mode", "off"},
                         {"default_pool_size", "1"},
                         {"query_wait_timeout", "20"}});
  const std::string conninfo = weir.conninfo("weir_scram") + " sslmode=disable password=";
  Connection holds(conninfo + "'scram secret'");
  ASSERT_TRUE(holds.ok()) << holds.error();
  Connection observer(weir.conninfo("weir_trust"));
  const auto waiting = [&] {
    const Answer answer = observer.exec("SHOW POOL_PROCESSES");
    for (std::size_t i = 0; i < answer.columns.size(); ++i)
      if (answer.columns[i] == "waiting" && !answer.rows.empty())
        return answer.rows[0][i].value_or("");
    return std::string("no such column");
  };
  for (const std::string password : {"wrong", "scram secret ", "scram secret"}) {
    holds.must("BEGIN");
    holds.must("INSERT INTO written(v) VALUES ('a password is tried')");
    std::string error;
    std::thread login([&] { error = Connection(conninfo + "'" + password + "'").error(); });
    EXPECT_TRUE(expect_soon("it waits", [&] { return waiting() == "1" || (password == "scram secret"); })) << waiting();
    holds.must("ROLLBACK");
    login.join();
    EXPECT_EQ(error.find("password authentication failed") != std::string::npos, password != "scram secret") << error;
  }
}

TEST_F(LoginTest, whom_the_server_rejects) {
  Pgweir weir(cluster_, {}, Pgweir::Unstarted{});
  weir.add_file("pool_passwd", "weir_reject:TEXTx\n");
  weir.start();
  EXPECT_NE(login(weir, "weir_reject", "x").find("pg_hba.conf"), std::string::npos);
  EXPECT_NE(login(weir, "no_such_role", "x"), "in");
}

TEST_F(LoginTest, a_changed_password_is_noticed) {
  Cluster cluster;
  Pgweir weir(cluster, {{"num_init_children", "1"}}, Pgweir::Unstarted{});
  weir.add_file("pool_passwd", "weir_scram:TEXTscram secret\n");
  weir.start();
  EXPECT_EQ(login(weir, "weir_scram", "scram secret"), "in");
  Connection(cluster.conninfo(0, "postgres", "app"))
      .must("ALTER ROLE weir_scram PASSWORD 'new secret'");
  weir.add_file("pool_passwd", "weir_scram:TEXTnew secret\n");
  weir.reload();
  expect_soon("the new password", [&] { return login(weir, "weir_scram", "new secret") == "in"; });
  EXPECT_NE(login(weir, "weir_scram", "scram secret"), "in");
}

TEST_F(LoginTest, malformed_answers_to_a_password_request) {
  Pgweir weir(cluster_, {}, Pgweir::Unstarted{});
  weir.add_file("pool_passwd", "weir_scram:TEXTscram secret\n");
  weir.start();
  for (const std::string& bytes :
       {tagged('p', ""), tagged('p', "no end"), tagged('p', cstring("SCRAM-SHA-256")),
        query("SELECT 1"), tagged('p', cstring("SCRAM-SHA-256") + int32(1000) + "short"),
        tagged('p', cstring("PLAIN") + int32(1) + "x"),
        tagged('p', cstring("SCRAM-SHA-256") + int32(3) + "n,,"),
        tagged('p', cstring("SCRAM-SHA-256") + int32(-1)),
        tagged('p', cstring("SCRAM-SHA-256-PLUS") + int32(7) + "p=x,,n="),
        tagged('p', cstring("SCRAM-SHA-256") + int32(14) + "n,,n=,r=\xff\xff\xff\xffyz"),
        std::string("p") + int32(0x7fffffff)}) {
    RawClient client(weir.port());
    client.send(startup({{"user", "weir_scram"}, {"database", "app"}}));
    ASSERT_TRUE(client.read().has_value());
    client.send(bytes);
    client.half_close();
    bool let_in = false;
    while (const auto message = client.read())
      let_in = let_in || message->tag == 'Z';
    EXPECT_FALSE(let_in);
    EXPECT_TRUE(client.closed());
  }
  EXPECT_EQ(login(weir, "weir_scram", "scram secret"), "in");
}

} // namespace
} // namespace weir::test
