// libpq through pgweir and directly: each test makes a transcript of what libpq was told, and the
// two must be equal.
#include <gtest/gtest.h>
#include <poll.h>

#include <functional>
#include <thread>

#include "test/support/pgweir.h"
#include "test/support/wait.h"

namespace weir::test {
namespace {

using Script = std::function<std::string(Connection&)>;

void compare(const Script& script) {
  Cluster& cluster = Cluster::shared();
  Connection direct(cluster.conninfo(0));
  ASSERT_TRUE(direct.ok()) << direct.error();
  const std::string expected = script(direct);
  EXPECT_FALSE(expected.empty());
  for (const char* per_statement : {"off", "on"}) {
    SCOPED_TRACE(std::string("statement_level_load_balance = ") + per_statement);
    Pgweir weir(cluster, {{"statement_level_load_balance", per_statement}});
    // Twice: the second session uses cached connections and known names.
    for (int round = 0; round < 2; ++round) {
      Connection through(weir.conninfo());
      ASSERT_TRUE(through.ok()) << through.error();
      EXPECT_EQ(script(through), expected);
      EXPECT_EQ(through.transaction(), 'I');
    }
  }
}

// Results up to a PGRES_PIPELINE_SYNC, nulls between them included.
std::string pipeline_results(PGconn* connection, int syncs) {
  std::string out;
  while (syncs > 0) {
    const ResultPtr result(PQgetResult(connection));
    if (!result) {
      out += "|\n";
      if (PQstatus(connection) != CONNECTION_OK)
        return out + "connection lost\n";
      continue;
    }
    out += to_answer(result.get()).text() + "\n";
    if (PQresultStatus(result.get()) == PGRES_PIPELINE_SYNC)
      --syncs;
  }
  return out;
}

void send(PGconn* connection, const std::string& sql, const Row& values = {}) {
  std::vector<const char*> parameters;
  for (const auto& value : values)
    parameters.push_back(value ? value->c_str() : nullptr);
  EXPECT_EQ(PQsendQueryParams(connection, sql.c_str(), static_cast<int>(parameters.size()), nullptr,
                              parameters.data(), nullptr, nullptr, 0),
            1)
      << PQerrorMessage(connection);
}

TEST(libpq, simple_and_extended) {
  compare([](Connection& c) {
    std::string out;
    for (const char* sql : {"SELECT id, v FROM plain WHERE id < 4 ORDER BY id",
                            "SELECT 1; SELECT 2; SELECT v FROM vw WHERE id = 1", "", ";",
                            "SELECT 1/0", "SELECT NULL, ''", "VALUES (1), (2)", "SHOW work_mem"}) {
      for (const Answer& answer : c.exec_all(sql))
        out += answer.text() + "\n";
    }
    out += c.exec_params("SELECT v FROM plain WHERE id = $1", {"5"}).text() + "\n";
    out += c.exec_params("SELECT $1::text, $2::text", {std::nullopt, ""}).text() + "\n";
    out += c.prepare("p1", "SELECT v FROM plain WHERE id = $1").text() + "\n";
    for (int i = 1; i < 10; ++i)
      out += c.exec_prepared("p1", {std::to_string(i)}).text() + "\n";
    out += c.prepare("p1", "SELECT 1").text() + "\n";
    out += c.exec_prepared("missing", {}).text() + "\n";
    const ResultPtr described(PQdescribePrepared(c.raw(), "p1"));
    out += std::to_string(PQnparams(described.get())) + to_answer(described.get()).columns.at(0) +
           "\n";
    out += c.exec("DEALLOCATE p1").text() + c.exec_prepared("p1", {"1"}).text() + "\n";
    return out;
  });
}

TEST(libpq, pipeline_with_one_sync) {
  compare([](Connection& c) {
    EXPECT_EQ(PQenterPipelineMode(c.raw()), 1);
    for (int i = 1; i <= 50; ++i)
      send(c.raw(), "SELECT v FROM plain WHERE id = $1", {std::to_string(i)});
    PQpipelineSync(c.raw());
    std::string out = pipeline_results(c.raw(), 1);
    // An error skips the rest of the batch, and what the batch wrote is undone.
    send(c.raw(), "INSERT INTO written(v) VALUES ('pipeline')");
    send(c.raw(), "SELECT 1/0");
    send(c.raw(), "SELECT 'skipped'");
    PQpipelineSync(c.raw());
    out += pipeline_results(c.raw(), 1);
    send(c.raw(), "SELECT count(*) FROM written WHERE v = 'pipeline'");
    PQpipelineSync(c.raw());
    out += pipeline_results(c.raw(), 1);
    PQexitPipelineMode(c.raw());
    return out;
  });
}

TEST(libpq, pipeline_with_many_syncs) {
  compare([](Connection& c) {
    EXPECT_EQ(PQenterPipelineMode(c.raw()), 1);
    int syncs = 0;
    for (int i = 1; i <= 30; ++i) {
      send(c.raw(), "SELECT v FROM plain WHERE id = $1", {std::to_string(i)});
      if (i % 3 == 0)
        send(c.raw(), "SELECT pg_sleep(0)");
      if (i % 7 == 0)
        send(c.raw(), "SELECT 1/0");
      if (i % 5 == 0)
        send(c.raw(), "SELECT count(*) FROM written WHERE id < 0");
      PQpipelineSync(c.raw());
      ++syncs;
      if (i % 10 == 0) { // an empty batch
        PQpipelineSync(c.raw());
        ++syncs;
      }
    }
    const std::string out = pipeline_results(c.raw(), syncs);
    PQexitPipelineMode(c.raw());
    return out;
  });
}

TEST(libpq, pipeline_with_flush_requests) {
  compare([](Connection& c) {
    std::string out;
    EXPECT_EQ(PQenterPipelineMode(c.raw()), 1);
    for (int i = 1; i <= 3; ++i) {
      send(c.raw(), "SELECT v FROM plain WHERE id = $1", {std::to_string(i)});
      PQsendFlushRequest(c.raw());
      PQflush(c.raw());
      // The answer comes without a Sync.
      const ResultPtr result(PQgetResult(c.raw()));
      out += to_answer(result.get()).text() + "\n";
      const ResultPtr end(PQgetResult(c.raw()));
      EXPECT_EQ(end.get(), nullptr);
    }
    PQpipelineSync(c.raw());
    out += pipeline_results(c.raw(), 1);
    PQexitPipelineMode(c.raw());
    return out;
  });
}

TEST(libpq, pipeline_transaction_in_batches) {
  compare([](Connection& c) {
    EXPECT_EQ(PQenterPipelineMode(c.raw()), 1);
    for (const char* sql : {"BEGIN", "INSERT INTO written(id, v) VALUES (-7, 'x')",
                            "SELECT v FROM written WHERE id = -7", "SAVEPOINT s"}) {
      send(c.raw(), sql);
      PQpipelineSync(c.raw());
    }
    std::string out = pipeline_results(c.raw(), 4);
    send(c.raw(), "SELECT nothing");
    PQpipelineSync(c.raw());
    send(c.raw(), "ROLLBACK TO s");
    send(c.raw(), "SELECT v FROM written WHERE id = -7");
    PQpipelineSync(c.raw());
    send(c.raw(), "ROLLBACK");
    PQpipelineSync(c.raw());
    out += pipeline_results(c.raw(), 3);
    PQexitPipelineMode(c.raw());
    return out;
  });
}

TEST(libpq, single_row_mode) {
  compare([](Connection& c) {
    std::string out;
    for (const char* sql : {"SELECT id, left(v, 3) FROM wide WHERE id <= 300 ORDER BY id",
                            "SELECT id, 10/(3-id) FROM plain WHERE id < 5 ORDER BY id"}) {
      PQsendQuery(c.raw(), sql);
      PQsetSingleRowMode(c.raw());
      while (PGresult* raw = PQgetResult(c.raw())) {
        const ResultPtr result(raw);
        out += to_answer(result.get()).text() + "\n";
      }
    }
    return out;
  });
}

TEST(libpq, copy_both_ways) {
  compare([](Connection& c) {
    std::string out = c.exec("CREATE TABLE IF NOT EXISTS copy_libpq (id int, v text)").tag + "\n";
    out += c.exec("TRUNCATE copy_libpq").text() + "\n";
    const auto feed = [&](const std::string& rows, const char* failure) {
      std::string text = c.exec("COPY copy_libpq FROM STDIN").text() + "\n";
      for (std::size_t at = 0; at < rows.size(); at += 1000) {
        const std::string piece = rows.substr(at, 1000);
        EXPECT_EQ(PQputCopyData(c.raw(), piece.data(), static_cast<int>(piece.size())), 1);
      }
      PQputCopyEnd(c.raw(), failure);
      while (PGresult* raw = PQgetResult(c.raw())) {
        const ResultPtr result(raw);
        text += to_answer(result.get()).text() + "\n";
      }
      return text;
    };
    std::string rows;
    for (int i = 0; i < 20000; ++i)
      rows += std::to_string(i) + "\tvalue " + std::to_string(i) + "\n";
    out += feed(rows, nullptr);
    out += feed("1\tonly\n", "the client gave up");
    out += feed("bad\trow\n", nullptr);
    out += c.exec("SELECT count(*), sum(id) FROM copy_libpq").text() + "\n";
    // In the extended protocol too.
    for (const char* sql :
         {"COPY (SELECT id, v FROM copy_libpq WHERE id < 5000 ORDER BY id) TO STDOUT",
          "COPY copy_libpq TO STDOUT"}) {
      for (const bool extended : {false, true}) {
        out += (extended ? c.exec_params(sql, {}) : c.exec(sql)).text() + "\n";
        std::size_t bytes = 0;
        char* buffer = nullptr;
        int n = 0;
        std::size_t hash = 0;
        while ((n = PQgetCopyData(c.raw(), &buffer, 0)) > 0) {
          bytes += static_cast<std::size_t>(n);
          hash = hash * 31 +
                 std::hash<std::string>{}(std::string(buffer, static_cast<std::size_t>(n)));
          PQfreemem(buffer);
        }
        out += std::to_string(bytes) + " " + std::to_string(hash) + " " + std::to_string(n) + "\n";
        while (PGresult* raw = PQgetResult(c.raw())) {
          const ResultPtr result(raw);
          out += to_answer(result.get()).text() + "\n";
        }
      }
    }
    return out + c.exec("DROP TABLE copy_libpq").text();
  });
}

TEST(libpq, cancel) {
  compare([](Connection& c) {
    std::string out;
    for (const char* sql : {"SELECT pg_sleep(60)",
                            "SELECT count(*) FROM plain a, plain b, plain c, plain d, plain e"}) {
      PQsendQuery(c.raw(), sql);
      PQflush(c.raw());
      // Until the cancel has an effect: one that comes too early is lost, as with PostgreSQL.
      expect_soon("answer to a cancelled query", [&] {
        std::string error(256, '\0');
        PGcancel* cancel = PQgetCancel(c.raw());
        EXPECT_EQ(PQcancel(cancel, error.data(), static_cast<int>(error.size())), 1) << error;
        PQfreeCancel(cancel);
        pollfd what{c.socket(), POLLIN, 0};
        return ::poll(&what, 1, 200) > 0;
      });
      while (PGresult* raw = PQgetResult(c.raw())) {
        const ResultPtr result(raw);
        out += to_answer(result.get()).text() + "\n";
      }
      // A cancel on its way may still hit the next statement, as with PostgreSQL.
      expect_soon("connection usable again", [&] { return c.exec("SELECT 'alive'").ok(); });
    }
    return out;
  });
}

TEST(libpq, function_call) {
  compare([](Connection& c) {
    std::string out;
    // Large objects are built on FunctionCall.
    c.must("BEGIN");
    const Oid object = lo_create(c.raw(), 0);
    EXPECT_NE(object, 0U);
    const int fd = lo_open(c.raw(), object, 0x20000 | 0x40000);
    const std::string text(100000, 'q');
    out += std::to_string(lo_write(c.raw(), fd, text.data(), text.size())) + "\n";
    out += std::to_string(lo_lseek(c.raw(), fd, 10, 0)) + "\n";
    std::string back(50, '\0');
    out += std::to_string(lo_read(c.raw(), fd, back.data(), back.size())) + back + "\n";
    out += std::to_string(lo_close(c.raw(), fd)) + "\n";
    out += std::to_string(lo_unlink(c.raw(), object)) + "\n";
    c.must("COMMIT");
    // abs(int4) is 1397 in every version.
    PQArgBlock argument{};
    argument.len = 4;
    argument.isint = 1;
    argument.u.integer = -42;
    int value = 0;
    int length = 0;
    const ResultPtr called(PQfn(c.raw(), 1397, &value, &length, 1, &argument, 1));
    out += to_answer(called.get()).text() + std::to_string(value) + "\n";
    const ResultPtr failed(PQfn(c.raw(), 999999, &value, &length, 1, &argument, 1));
    out += to_answer(failed.get()).text() + "\n";
    return out;
  });
}

TEST(libpq, notifications_arrive_at_once) {
  Cluster& cluster = Cluster::shared();
  Pgweir weir(cluster);
  Connection listener(weir.conninfo());
  listener.must("LISTEN libpq_channel");
  for (int i = 0; i < 3; ++i) {
    Connection(cluster.conninfo(0))
        .must("NOTIFY libpq_channel, 'payload " + std::to_string(i) + "'");
    // Nothing is asked of pgweir meanwhile.
    pollfd what{listener.socket(), POLLIN, 0};
    ASSERT_EQ(::poll(&what, 1, 30000), 1);
    PQconsumeInput(listener.raw());
    PGnotify* note = PQnotifies(listener.raw());
    ASSERT_NE(note, nullptr);
    EXPECT_EQ(std::string(note->extra), "payload " + std::to_string(i));
    PQfreemem(note);
  }
  listener.must("UNLISTEN *");
}

TEST(libpq, notices_arrive_at_once) {
  Pgweir weir(Cluster::shared());
  Connection c(weir.conninfo());
  PQsendQuery(c.raw(), "DO $$BEGIN RAISE NOTICE 'first'; PERFORM pg_sleep(60); END$$");
  expect_soon("the notice", [&] {
    PQconsumeInput(c.raw());
    PQisBusy(c.raw());
    return !c.notices().empty();
  });
  EXPECT_EQ(c.notices().at(0), "first");
  PGcancel* cancel = PQgetCancel(c.raw());
  std::string error(256, '\0');
  PQcancel(cancel, error.data(), static_cast<int>(error.size()));
  PQfreeCancel(cancel);
  const ResultPtr result(PQgetResult(c.raw()));
  EXPECT_EQ(to_answer(result.get()).sqlstate, "57014");
}

TEST(libpq, parameters_reported_at_login) {
  Cluster& cluster = Cluster::shared();
  Pgweir weir(cluster);
  Connection direct(cluster.conninfo(0) +
                    " client_encoding=LATIN1 options='-c timezone=Asia/Tokyo -c my.var=x'");
  for (int round = 0; round < 2; ++round) {
    Connection through(weir.conninfo() +
                       " client_encoding=LATIN1 options='-c timezone=Asia/Tokyo -c my.var=x'");
    ASSERT_TRUE(through.ok()) << through.error();
    for (const char* name :
         {"server_version", "server_encoding", "client_encoding", "is_superuser", "DateStyle",
          "TimeZone", "integer_datetimes", "standard_conforming_strings", "IntervalStyle",
          "session_authorization", "default_transaction_read_only", "in_hot_standby"}) {
      EXPECT_EQ(through.parameter(name), direct.parameter(name)) << name;
    }
    EXPECT_EQ(through.value("SHOW my.var"), "x");
    // On a standby they hold too.
    EXPECT_TRUE(weir.reaches_standby(through, "SELECT v FROM plain WHERE id = 1"));
    EXPECT_EQ(
        through.value(
            "SELECT to_char(timestamptz '2024-01-01 00:00:00+00', 'HH24') FROM plain WHERE id = 1"),
        "09");
    EXPECT_EQ(through.parameter("in_hot_standby"), "off");
    through.must("SET TimeZone = 'UTC'");
    EXPECT_EQ(through.parameter("TimeZone"), "UTC");
    EXPECT_EQ(
        through.value(
            "SELECT to_char(timestamptz '2024-01-01 00:00:00+00', 'HH24') FROM plain WHERE id = 1"),
        "00");
    through.must("RESET TimeZone");
    EXPECT_EQ(through.parameter("TimeZone"), "Asia/Tokyo");
  }
}

} // namespace
} // namespace weir::test
