// Work for pgweir, and an eye on what it opens: for tests of limits.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "test/support/cluster.h"
#include "test/support/connection.h"

namespace weir::test {

// Looks at the client backends of every node, again and again; those of pgweir itself and of the test are left out.
class Sampler {
public:
  explicit Sampler(const Cluster& cluster) {
    for (int node = 0; node < kNodes; ++node)
      threads_.emplace_back([this, &cluster, node] { look(cluster.conninfo(node, "postgres", "postgres"), node); });
  }
  ~Sampler() { stop(); }
  void stop() {
    stopping_ = true;
    for (auto& thread : threads_)
      if (thread.joinable())
        thread.join();
  }
  // The most that one sample has shown on a node: of a user in a database; of a database; of a user.
  int most_of_pool() { return most([](const Seen& seen) { return seen.pool; }); }
  int most_of_database() { return most([](const Seen& seen) { return seen.database; }); }
  int most_of_user() { return most([](const Seen& seen) { return seen.user; }); }
  int most_of(const std::string& user, const std::string& database) {
    const std::lock_guard lock(mutex_);
    return by_pool_[user + "." + database];
  }
  int samples() const { return samples_; }

private:
  struct Seen {
    int pool = 0;
    int database = 0;
    int user = 0;
  };
  template <typename Field> int most(Field field) {
    const std::lock_guard lock(mutex_);
    return field(seen_);
  }
  void look(const std::string& conninfo, int) {
    Connection server(conninfo);
    while (!stopping_) {
      const Answer answer = server.exec("SELECT usename, datname, count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' "
                                        "AND usename <> 'postgres' AND application_name <> 'pgweir service' AND usename <> 'weir_check' GROUP BY 1, 2");
      EXPECT_TRUE(answer.ok()) << answer.text();
      if (!answer.ok())
        return;
      take(answer);
      ++samples_;
    }
  }
  void take(const Answer& answer) {
    std::map<std::string, int> databases;
    std::map<std::string, int> users;
    const std::lock_guard lock(mutex_);
    for (const Row& row : answer.rows) {
      const int count = std::stoi(*row[2]);
      seen_.pool = std::max(seen_.pool, count);
      seen_.user = std::max(seen_.user, users[*row[0]] += count);
      seen_.database = std::max(seen_.database, databases[*row[1]] += count);
      int& most = by_pool_[*row[0] + "." + *row[1]];
      most = std::max(most, count);
    }
  }

  std::vector<std::thread> threads_;
  std::atomic<bool> stopping_{false};
  std::atomic<int> samples_{0};
  std::mutex mutex_;
  Seen seen_;
  std::map<std::string, int> by_pool_;
};

// Clients that ask short questions as fast as they get answers.
class Load {
public:
  void add(const std::string& conninfo, int clients) {
    for (int i = 0; i < clients; ++i) {
      done_.emplace_back(std::make_unique<std::atomic<int>>(0));
      threads_.emplace_back([this, conninfo, count = done_.back().get()] { ask(conninfo, *count); });
    }
  }
  ~Load() { stop(); }
  void stop() {
    stopping_ = true;
    for (auto& thread : threads_)
      if (thread.joinable())
        thread.join();
  }
  int done(std::size_t client) const { return *done_.at(client); }
  int done(std::size_t from, std::size_t to) const {
    int sum = 0;
    for (; from < to; ++from)
      sum += done(from);
    return sum;
  }
  bool all_served(int times) const {
    return std::all_of(done_.begin(), done_.end(), [&](const auto& count) { return *count >= times; });
  }
  // Errors of statements on connections that lived on.
  std::string errors() {
    const std::lock_guard lock(mutex_);
    return errors_;
  }
  std::atomic<bool> may_break{false}; // children are killed
  std::string statement = "BEGIN; SELECT pg_sleep(0.002); COMMIT";

private:
  void ask(const std::string& conninfo, std::atomic<int>& count) {
    while (!stopping_) {
      Connection client(conninfo);
      if (!client.ok() && !may_break)
        return note(client.error());
      while (client.ok() && !stopping_) {
        const Answer answer = client.exec(statement);
        if (answer.ok()) {
          ++count;
        } else if (!may_break) {
          return note(answer.text());
        }
      }
    }
  }
  void note(const std::string& error) {
    const std::lock_guard lock(mutex_);
    errors_ += error + "\n";
  }

  std::vector<std::thread> threads_;
  std::vector<std::unique_ptr<std::atomic<int>>> done_;
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::string errors_;
};

} // namespace weir::test
