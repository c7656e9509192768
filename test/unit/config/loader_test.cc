#include "common/config/loader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "common/config/log_settings.h"
#include "common/config/parameter.h"

namespace weir::config {
namespace {

using Files = std::map<std::string, std::string>;

LoadOutcome load_files(const Files& files, LoadRequest request = {"/c/main.conf", {}, {}}) {
  return load_with(request, [&](const std::string& path) -> Result<std::string> {
    const auto it = files.find(path);
    if (it == files.end()) return fail(make_error("F0000", "No such file or directory"));
    return it->second;
  });
}
LoadOutcome load_text(const std::string& text) { return load_files({{"/c/main.conf", text}}); }

std::string errors_of(const LoadOutcome& outcome) {
  std::string text;
  for (const ConfError& error : outcome.errors) {
    text += error.file + ":" + std::to_string(error.line) + ": " + error.message + "\n";
  }
  return text;
}

bool has_notice(const LoadOutcome& outcome, const std::string& part) {
  return std::any_of(outcome.notices.begin(), outcome.notices.end(),
                     [&](const std::string& notice) { return notice.find(part) != std::string::npos; });
}

TEST(loader, empty_file_gives_defaults) {
  const LoadOutcome outcome = load_text("");
  ASSERT_NE(outcome.config, nullptr) << errors_of(outcome);
  EXPECT_EQ(outcome.config->port, 9999);
  EXPECT_TRUE(outcome.config->backends.empty());
  EXPECT_EQ(outcome.config->file, "/c/main.conf");
  EXPECT_EQ(outcome.config->directory, "/c");
  EXPECT_EQ(outcome.config->resolve_path("pool_passwd"), "/c/pool_passwd");
  EXPECT_EQ(outcome.config->resolve_path("/x/y"), "/x/y");
  EXPECT_EQ(outcome.config->resolve_path(""), "");
  EXPECT_TRUE(outcome.notices.empty());
  ASSERT_TRUE(nothing_to_serve(*outcome.config).has_value());
  EXPECT_NE(nothing_to_serve(*outcome.config)->message.find("backend_hostname0"), std::string::npos);
}

TEST(loader, a_node_or_a_database_with_a_host_is_something_to_serve) {
  EXPECT_FALSE(nothing_to_serve(*load_text("backend_hostname0 = ''\nbackend_port0 = 1\n").config));
  EXPECT_FALSE(nothing_to_serve(*load_text("[databases]\na = host=h\n").config));
  EXPECT_TRUE(nothing_to_serve(*load_text("[databases]\na = dbname=b\n[users]\nu = pool_size=1\n").config));
  EXPECT_TRUE(nothing_to_serve(*load_text("backend_hostname0 = 'h'\n").config)) << "a node without a port is none";
}

TEST(loader, a_port_needs_a_host) {
  EXPECT_EQ(errors_of(load_text("\nbackend_port0 = 1\nbackend_hostname1 = 'h'\n")),
            "/c/main.conf:2: backend_port0 is set, backend_hostname0 is not (write '' for the socket in /tmp)\n");
  EXPECT_EQ(errors_of(load_text("backend_port00 = 1\n")),
            "/c/main.conf:0: backend_port0 is set, backend_hostname0 is not (write '' for the socket in /tmp)\n");
  EXPECT_EQ(errors_of(load_text("backend_port0 = 0\nbackend_hostname1 = ''\nbackend_port1 = 1\n")), "");
  EXPECT_NE(errors_of(load_files({{"/c/main.conf", ""}}, {"/c/main.conf", {{"PGWEIR_BACKEND_PORT0", "1"}}, {}})).find("PGWEIR_BACKEND_PORT0"),
            std::string::npos);
}

TEST(loader, unknown_sections_are_told_once) {
  EXPECT_EQ(errors_of(load_text("port = 1\n[zzz]\n")),
            "/c/main.conf:2: unknown section [zzz]: there are [databases], [users], [pools], [tenants] and [peers]\n");
  EXPECT_EQ(load_text("[zzz]\na = b=c\nd = e=f\n[users]\n").errors.size(), 1u);
  EXPECT_EQ(load_text("[pgbouncer]\nlisten_port = 1\n").errors.size(), 1u);
}

TEST(loader, variables_of_the_environment_that_nobody_reads) {
  const LoadOutcome outcome = load_files({{"/c/main.conf", ""}}, {"/c/main.conf",
                                                                  {{"PGWEIR_NOPE", "foo"},
                                                                   {"PGWEIR_MAX_POOL", "3"},
                                                                   {"PGWEIR_DEMO_PG_PORT", "1"},
                                                                   {"PGWEIR_TEST_BINARY", "x"},
                                                                   {"OTHER", "y"}},
                                                                  {}});
  ASSERT_EQ(outcome.notices.size(), 1u);
  EXPECT_EQ(outcome.notices[0], "environment variable PGWEIR_NOPE is ignored: there is no parameter of that name");
}

TEST(loader, nodes) {
  const LoadOutcome outcome = load_text(
      "backend_hostname0 = 'db0'\nbackend_port0 = 5432\nbackend_weight0 = 0.5\n"
      "backend_flag0 = 'DISALLOW_TO_FAILOVER|ALWAYS_PRIMARY'\nbackend_application_name0 = 'a0'\n"
      "backend_data_directory0 = '/d'\nBackend_Port2 = 5434\nconnect_timeout2 = 3s\nhealth_check_timeout = 7\nbackend_hostname2 = ''\n");
  ASSERT_NE(outcome.config, nullptr) << errors_of(outcome);
  const auto& nodes = outcome.config->backends;
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes[0].hostname, "db0");
  EXPECT_EQ(nodes[0].port, 5432);
  EXPECT_EQ(nodes[0].weight, 0.5);
  EXPECT_EQ(nodes[0].data_directory, "/d");
  EXPECT_EQ(nodes[0].application_name, "a0");
  EXPECT_FALSE(nodes[0].allow_to_failover);
  EXPECT_TRUE(nodes[0].always_primary);
  EXPECT_EQ(nodes[0].connect_timeout, 10000);
  EXPECT_EQ(nodes[0].health_check_timeout, 7);
  EXPECT_EQ(nodes[1].port, 0);
  EXPECT_EQ(nodes[2].connect_timeout, 3000);
  EXPECT_TRUE(nodes[2].allow_to_failover);
  EXPECT_EQ(outcome.config->sources.at("backend_port2"), "/c/main.conf:7");
  EXPECT_TRUE(outcome.notices.empty());
}

TEST(loader, all_errors_at_once) {
  const LoadOutcome outcome = load_text(
      "port = 99999\nlisten_adresses = '*'\nbackend_hostnam0 = 'x'\nbackend_port0 = big\nbackend_port = 5432\n"
      "what ever is this\nbackend_port128 = 1\nbackend_flag1 = 'NEVER'\nssl = perhaps\nbackend_weight0 = -1\n"
      "backend_clustering_mode = snapshot_isolation\nhealth_check_timeout1 = x\nzzzzzzzzzzzzzzzzzz = 1\n");
  EXPECT_EQ(outcome.config, nullptr);
  const std::string text = errors_of(outcome);
  const char* const lines[] = {
      "/c/main.conf:1: port: 99999 is outside of 1 .. 65535\n",
      "/c/main.conf:2: unknown parameter \"listen_adresses\" (did you mean \"listen_addresses\"?)\n",
      "/c/main.conf:3: unknown parameter \"backend_hostnam0\" (did you mean \"backend_hostname0\"?)\n",
      "/c/main.conf:4: backend_port0: \"big\" is no port\n",
      "/c/main.conf:5: backend_port: needs the number of a node at its end, as backend_port0\n",
      "/c/main.conf:6: ",
      "/c/main.conf:7: backend_port128: node numbers go from 0 to 127\n",
      "/c/main.conf:8: backend_flag1: \"NEVER\" is none of",
      "/c/main.conf:9: ssl: \"perhaps\" is neither on nor off\n",
      "/c/main.conf:10: backend_weight0: ",
      "/c/main.conf:11: backend_clustering_mode: snapshot_isolation is not offered",
      "/c/main.conf:12: health_check_timeout1: \"x\" is no number (unit s)\n",
      "/c/main.conf:13: unknown parameter \"zzzzzzzzzzzzzzzzzz\"\n",
  };
  for (const char* line : lines) EXPECT_NE(text.find(line), std::string::npos) << line << "is missing in\n" << text;
  EXPECT_EQ(outcome.errors.size(), std::size(lines)) << text;
}

TEST(loader, patterns_and_redirects_that_cannot_be_read) {
  LoadRequest request{"/c/main.conf", {{"PGWEIR_USER_REDIRECT_PREFERENCE_LIST", "u:9(2)"}}, {{"write_function_list", "[a"}}};
  const LoadOutcome outcome = load_files({{"/c/main.conf",
                                           "port = 6000\nbackend_hostname0 = h\nread_only_function_list = 'fine,(open'\n"
                                           "database_redirect_preference_list = 'a:1'\n"
                                           "database_redirect_preference_list = 'a:primary(0.5),b:master, ,c'\n"
                                           "app_name_redirect_preference_list = 'psql'\n"}},
                                         request);
  EXPECT_EQ(outcome.config, nullptr);
  const std::string text = errors_of(outcome);
  const char* const lines[] = {
      "/c/main.conf:3: read_only_function_list: \"(open\" is no regular expression",
      "command line:0: write_function_list: \"[a\" is no regular expression",
      "/c/main.conf:6: app_name_redirect_preference_list: \"psql\" has no colon",
      "/c/main.conf:5: database_redirect_preference_list: \"master\" in \"b:master\" is no node",
      "/c/main.conf:5: database_redirect_preference_list: \"c\" has no colon",
      "environment:0: user_redirect_preference_list: \"2\" in \"u:9(2)\" is no ratio",
  };
  for (const char* line : lines) EXPECT_NE(text.find(line), std::string::npos) << line << " is missing in\n" << text;
  EXPECT_EQ(outcome.errors.size(), std::size(lines)) << text;
}

TEST(loader, a_redirect_to_a_node_that_is_not_there_is_said) {
  const LoadOutcome outcome = load_text("backend_hostname0 = h\nbackend_port0 = 1\nuser_redirect_preference_list = 'a:0,b:1,c:standby'\n");
  ASSERT_NE(outcome.config, nullptr) << errors_of(outcome);
  ASSERT_EQ(outcome.notices.size(), 1u);
  EXPECT_EQ(outcome.notices[0], "user_redirect_preference_list: there is no node 1 as \"b:1\" says");
}

TEST(loader, a_limit_of_delay_without_measurements_is_said) {
  EXPECT_TRUE(has_notice(load_text("backend_port0 = 1\nsr_check_period = 0\ndelay_threshold = 1\n"), "sr_check_period is 0"));
  EXPECT_TRUE(has_notice(load_text("backend_port0 = 1\nsr_check_period = 0\ndelay_threshold_by_time = 1\n"), "sr_check_period is 0"));
  EXPECT_FALSE(has_notice(load_text("backend_port0 = 1\nsr_check_period = 0\n"), "sr_check_period is 0"));
  EXPECT_FALSE(has_notice(load_text("backend_port0 = 1\ndelay_threshold = 1\n"), "sr_check_period is 0"));
}

TEST(loader, errors_are_bounded) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "no_such_parameter = 1\n";
  const LoadOutcome outcome = load_text(text);
  EXPECT_EQ(outcome.config, nullptr);
  ASSERT_EQ(outcome.errors.size(), 101u);
  EXPECT_EQ(outcome.errors.back().message, "and 19900 more errors");
}

TEST(loader, environment_and_command_line) {
  LoadRequest request{"/c/main.conf",
                      {{"PGWEIR_PORT", "7000"},
                       {"PGWEIR_NUM_INIT_CHILDREN", "2"},
                       {"PGWEIR_BACKEND_PORT0", "5555"},
                       {"PGWEIR_DEMO_DIR", "/demo"},  // something else of pgweir's
                       {"PORT", "1"}},
                      {{"num_init_children", "3"}}};
  const LoadOutcome outcome =
      load_files({{"/c/main.conf", "port = 6000\nnum_init_children = 9\nbackend_port0 = 1\nmax_pool = 7\nbackend_hostname0 = 'h'\n"}}, request);
  ASSERT_NE(outcome.config, nullptr) << errors_of(outcome);
  const Config& config = *outcome.config;
  EXPECT_EQ(config.port, 7000);
  EXPECT_EQ(config.num_init_children, 3);
  EXPECT_EQ(config.max_pool, 7);
  EXPECT_EQ(config.backends.at(0).port, 5555);
  EXPECT_EQ(config.sources.at("port"), "environment");
  EXPECT_EQ(config.sources.at("num_init_children"), "command line");
  EXPECT_EQ(config.sources.at("max_pool"), "/c/main.conf:4");
  EXPECT_EQ(config.sources.at("backend_port0"), "environment");
  EXPECT_EQ(config.sources.count("listen_addresses"), 0u);
  EXPECT_EQ(config.overrides.at("num_init_children"), "3");

  request.environment = {{"PGWEIR_PORT", "none"}};
  request.overrides = {{"nonsense", "1"}};
  const std::string errors = errors_of(load_files({{"/c/main.conf", ""}}, request));
  EXPECT_NE(errors.find("environment variable PGWEIR_PORT:0: port: "), std::string::npos) << errors;
  EXPECT_NE(errors.find("command line:0: unknown parameter \"nonsense\""), std::string::npos) << errors;
}

TEST(loader, later_lines_and_aliases_win) {
  const LoadOutcome outcome = load_text("logdir = '/a'\nwork_dir = '/b'\nsocket_dir = '/s1,/s2'\nport = 1\nport 2\n");
  ASSERT_NE(outcome.config, nullptr);
  EXPECT_EQ(outcome.config->work_dir, "/b");
  EXPECT_EQ(outcome.config->port, 2);
  EXPECT_EQ(outcome.config->unix_socket_directories, (std::vector<std::string>{"/s1", "/s2"}));
}

TEST(loader, a_name_may_have_a_unit_of_its_own) {
  EXPECT_EQ(load_text("server_connect_timeout = 15\n").config->connect_timeout, 15000);
  EXPECT_EQ(load_text("server_connect_timeout = 15ms\n").config->connect_timeout, 15);
  EXPECT_EQ(load_text("connect_timeout = 15\n").config->connect_timeout, 15);
}

TEST(loader, somebody_must_be_let_in) {
  EXPECT_EQ(load_text("max_client_conn = 5\nreserved_connections = 5\n").config, nullptr);
  EXPECT_NE(load_text("max_client_conn = 6\nreserved_connections = 5\n").config, nullptr);
  EXPECT_NE(load_text("max_client_conn = 0\nreserved_connections = 5\n").config, nullptr) << "no limit";
}

TEST(loader, notices) {
  const LoadOutcome outcome = load_text(
      "backend_hostname0 = 'h'\nbackend_port0 = 1\nmemory_cache_enabled = on\nuse_watchdog = off\nserialize_accept = on\npool_mode = "
      "transaction\n"
      "hostname0 = 'h'\nhostname1 = ''\nmemory_cache_enabled = on\n[databases]\napp = dbname=x\n");
  ASSERT_NE(outcome.config, nullptr) << errors_of(outcome);
  EXPECT_TRUE(has_notice(outcome, "parameter memory_cache_enabled is not yet in effect"));
  EXPECT_TRUE(has_notice(outcome, "parameter serialize_accept has no effect: "));
  EXPECT_TRUE(has_notice(outcome, "parameter hostname0 is not yet in effect"));
  EXPECT_TRUE(has_notice(outcome, "key dbname of [databases] is not yet in effect"));
  EXPECT_EQ(outcome.notices.size(), 4u) << "each once, and none for what asks for nothing";
}

TEST(loader, lines_of_sections_are_checked) {
  const LoadOutcome bad = load_text("[databases]\napp = dbname=x prot=5 port=0\n[users]\nu = pool_mode=never\nv = host=h\n[pools]\nx = pool_size=1\n");
  EXPECT_EQ(errors_of(bad),
            "/c/main.conf:2: unknown key \"prot\" in [databases] (did you mean \"port\"?)\n"
            "/c/main.conf:2: port: 0 is outside of 1 ... 65535\n"
            "/c/main.conf:4: pool_mode: \"never\" is none of: session, transaction, statement\n"
            "/c/main.conf:5: host is no key of [users]: it belongs to [databases], [peers]\n"
            "/c/main.conf:7: \"x\" is no pool: its name is user.database\n");
  const LoadOutcome good = load_text("[databases]\napp = pool_size=3\napp = pool_size=4\n[tenants]\nt = any=thing\n[peers]\n7 = host=h port=1\n");
  ASSERT_NE(good.config, nullptr) << errors_of(good);
  EXPECT_EQ(good.config->settings.databases.at("app").pool_size, 4);
  EXPECT_EQ(good.config->settings.peers.at(7).port, 1);
  EXPECT_EQ(good.notices.size(), 1u) << "of what has no effect";
}

TEST(loader, nobody_could_connect) {
  EXPECT_EQ(load_text("listen_addresses = ''\nunix_socket_directories = ''\n").config, nullptr);
  EXPECT_NE(load_text("listen_addresses = ''\n").config, nullptr);
}

TEST(loader, includes) {
  const LoadOutcome outcome = load_files({{"/c/main.conf", "include 'sub/a.conf'\nmax_pool = 3\n[users]\nu = pool_size=1\n"},
                                          {"/c/sub/a.conf", "max_pool = 1\ninclude 'b.conf'\n[users]\nv = pool_size=2\n"},
                                          {"/c/sub/b.conf", "port = 5000\ninclude '/etc/c.conf'\n"},
                                          {"/etc/c.conf", "num_init_children = 4\n"}});
  ASSERT_NE(outcome.config, nullptr) << errors_of(outcome);
  EXPECT_EQ(outcome.config->max_pool, 3);
  EXPECT_EQ(outcome.config->port, 5000);
  EXPECT_EQ(outcome.config->num_init_children, 4);
  EXPECT_EQ(outcome.config->sources.at("port"), "/c/sub/b.conf:1");
  EXPECT_EQ(outcome.config->sections.at("users").size(), 2u);
}

TEST(loader, bad_includes) {
  const auto text = [](const Files& files) { return errors_of(load_files(files)); };
  EXPECT_EQ(text({{"/c/main.conf", "\ninclude 'none.conf'\n"}}),
            "/c/main.conf:2: cannot read the configuration file \"/c/none.conf\": No such file or directory\n");
  EXPECT_EQ(text({{"/c/main.conf", "include '../c/./main.conf'\n"}}),
            "/c/main.conf:1: \"/c/../c/./main.conf\" includes itself\n");
  EXPECT_EQ(text({{"/c/main.conf", std::string("include ''\ninclude 'a\0b'\n", 25)}}),
            "/c/main.conf:2: the line has a NUL in it\n/c/main.conf:1: include needs the name of a file\n");
  EXPECT_EQ(text({{"/c/main.conf", "include 'b'\n"}, {"/c/b", "\ninclude 'main.conf'\n"}}),
            "/c/b:2: \"/c/main.conf\" includes itself\n");
  Files chain{{"/c/main.conf", "include '0'\n"}};
  for (int i = 0; i < 20; ++i) chain["/c/" + std::to_string(i)] = "include '" + std::to_string(i + 1) + "'\n";
  EXPECT_EQ(text(chain), "/c/9:1: include is nested more than 10 deep\n");
}

// Ten levels of files that each include all files of the next level a hundred times.
TEST(loader, includes_do_not_multiply) {
  Files files;
  std::string includes;
  for (int level = 9; level >= 0; --level) {
    files["/c/" + std::to_string(level)] = includes;
    includes.clear();
    for (int i = 0; i < 100; ++i) includes += "include '" + std::to_string(level) + "'\n";
  }
  files["/c/main.conf"] = includes;
  const LoadOutcome outcome = load_files(files);
  EXPECT_EQ(outcome.config, nullptr);
  EXPECT_NE(errors_of(outcome).find("more than 1000 files"), std::string::npos);
}

TEST(loader, missing_file_and_directory) {
  LoadOutcome outcome = load({"/nonexistent/pgweir.conf", {}, {}});
  EXPECT_EQ(outcome.config, nullptr);
  EXPECT_NE(errors_of(outcome).find("No such file"), std::string::npos) << errors_of(outcome);
  EXPECT_NE(errors_of(load({"/tmp", {}, {}})).find("directory"), std::string::npos);
  EXPECT_NE(errors_of(load({"", {}, {}})), "");
  EXPECT_NE(errors_of(load({"/dev/zero", {}, {}})).find("larger than 16 MB"), std::string::npos);
}

TEST(loader, reload_reads_the_file_again) {
  const std::string path = testing::TempDir() + "weir_reload_test.conf";
  std::ofstream(path) << "max_pool = 1\n";
  const LoadOutcome first = load({path, {}, {{"port", "1234"}}});
  ASSERT_NE(first.config, nullptr) << errors_of(first);
  std::ofstream(path) << "max_pool = 2\nport = 5\n";
  const LoadOutcome second = reload(*first.config);
  ASSERT_NE(second.config, nullptr) << errors_of(second);
  EXPECT_EQ(second.config->max_pool, 2);
  EXPECT_EQ(second.config->port, 1234) << "the command line still counts";
  std::filesystem::remove(path);
  EXPECT_EQ(reload(*first.config).config, nullptr);
}

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(loader, every_parameter_of_pgpool_loads) {
  const LoadOutcome outcome = load({WEIR_SOURCE_DIR "/test/tables/pgpool_parameters.conf", {}, {}});
  ASSERT_NE(outcome.config, nullptr) << errors_of(outcome);
  const Config& config = *outcome.config;
  EXPECT_EQ(config.port, 5433);
  EXPECT_EQ(config.max_pool, 4);
  EXPECT_EQ(config.authentication_timeout, 60);
  EXPECT_EQ(config.child_life_time, 300);
  EXPECT_EQ(config.memqcache_maxcache, 409600);
  EXPECT_EQ(config.ssl_ciphers, "HIGH:MEDIUM:+3DES:!aNULL");
  EXPECT_EQ(config.backends.at(1).hostname, "host2");
  EXPECT_EQ(config.reset_query_list.size(), 3u);
}

// Where Pgpool-II is installed: its own file, as it is and with every commented parameter line uncommented.
TEST(loader, stock_file_of_pgpool) {
  std::string stock;
  for (const char* path : {"/etc/pgpool2/pgpool.conf", "/etc/pgpool-II/pgpool.conf.sample"}) {
    if (stock.empty()) stock = read(path);
  }
  if (stock.empty()) GTEST_SKIP() << "Pgpool-II is not installed";
  EXPECT_EQ(errors_of(load_text(stock)), "");
  std::istringstream lines(stock);
  std::string all;
  int uncommented = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t name = line.find_first_not_of("#");
    const std::size_t end = name == std::string::npos ? name : line.find_first_of(" =", name);
    const std::size_t equals = end == std::string::npos ? end : line.find_first_not_of(' ', end);
    if (line.starts_with("#") && name == 1 && equals != std::string::npos && line[equals] == '=') {
      line.erase(0, 1);
      ++uncommented;
    }
    all += line + "\n";
  }
  EXPECT_GT(uncommented, 150);
  EXPECT_EQ(errors_of(load_text(all)), "");
}

TEST(loader, log_settings) {
  const LoadOutcome outcome = load_text(
      "log_destination = 'syslog'\nlog_min_messages = debug1\nsyslog_facility = local3\nsyslog_ident = 'me'\n"
      "log_line_prefix = '%p '\n");
  ASSERT_NE(outcome.config, nullptr) << errors_of(outcome);
  const log::Settings settings = log_settings(*outcome.config);
  EXPECT_FALSE(settings.to_stderr);
  EXPECT_TRUE(settings.to_syslog);
  EXPECT_EQ(settings.min_level, log::Level::Debug1);
  EXPECT_EQ(settings.syslog_facility, 19 << 3);
  EXPECT_EQ(settings.syslog_ident, "me");
  EXPECT_EQ(settings.line_prefix, "%p ");
  EXPECT_TRUE(log_settings(*load_text("").config).to_stderr);
}

}  // namespace
}  // namespace weir::config
