#include "client/credentials.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>

#include "client/run_program.h"

namespace trainyard::client {
namespace {

// A rotated token is taken up this soon; the old one stays valid for much longer.
constexpr std::chrono::seconds kTokenFileAge{10};
// What a plugin gave is asked for again this long before it runs out.
constexpr Duration kExpiryMargin{10'000};

Result<std::string> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return Error{ErrorKind::kForbidden, fmt::format("{}: {}", path, std::strerror(errno))};
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

Result<std::string> content_of(const Material& material) {
  if (material.file.empty()) return material.data;
  return read_file(material.file);
}

std::string trimmed(std::string text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.pop_back();
  return text;
}

Time wall_time() {
  auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::milliseconds>(since_1970).count()};
}

std::string text_of(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

struct Credentials::State {
  // Fixed.
  Access access;
  SteadyClock clock;
  // State, protected by `mutex`.
  std::mutex mutex;
  std::optional<Identity> identity;
  std::chrono::steady_clock::time_point read_at;
  std::optional<Time> expires;

  Error unhappy(const std::string& why) const {
    return {ErrorKind::kForbidden, fmt::format("{}: {}", access.where, why)};
  }

  bool fresh() const {
    if (!identity) return false;
    if (expires) return wall_time() + kExpiryMargin < *expires;
    bool from_file = !access.token.file.empty() || !access.certificate.file.empty();
    return !from_file || clock() - read_at < kTokenFileAge;
  }

  Result<Done> ask_plugin(Identity& found) {
    const ExecPlugin& plugin = *access.exec;
    Program program{plugin.command, plugin.args, plugin.env};
    program.reads_terminal = plugin.may_ask && isatty(STDIN_FILENO) == 1;
    if (plugin.must_ask && !program.reads_terminal) {
      return unhappy(
          fmt::format("plugin {} wants to ask somebody (interactiveMode: Always), and there is no terminal",
                      plugin.command));
    }
    Result<std::string> ca = content_of(access.ca);
    if (!ca.ok()) return ca.error();
    program.env.emplace_back("KUBERNETES_EXEC_INFO", exec_info(access, *ca, program.reads_terminal));
    Result<std::string> printed = run_program(program);
    if (!printed.ok()) {
      std::string hint = plugin.install_hint.empty() ? "" : "\n" + plugin.install_hint;
      return unhappy(
          fmt::format("the plugin for credentials did not run: {}{}", printed.error().message, hint));
    }
    Result<ExecCredential> credential = read_exec_credential(*printed, plugin.api_version);
    if (!credential.ok()) {
      return unhappy(fmt::format("plugin {}: {}", plugin.command, credential.error().message));
    }
    if (!credential->token.empty()) found.token = credential->token;
    if (!credential->certificate.empty()) {
      found.certificate = credential->certificate;
      found.key = credential->key;
    }
    expires = credential->expires;
    return Done{};
  }

  Result<Identity> gather() {
    Identity found;
    expires.reset();
    Result<std::string> token = content_of(access.token);
    if (!token.ok()) return unhappy(fmt::format("no token: {}", token.error().message));
    // Whoever writes it anew has begun with it. Without a token we were somebody else.
    if (!access.token.file.empty() && trimmed(*token).empty()) {
      return unhappy(fmt::format("no token: {} is empty", access.token.file));
    }
    Result<std::string> certificate = content_of(access.certificate);
    if (!certificate.ok()) {
      return unhappy(fmt::format("no client certificate: {}", certificate.error().message));
    }
    Result<std::string> key = content_of(access.key);
    if (!key.ok()) return unhappy(fmt::format("no client key: {}", key.error().message));
    found = {trimmed(*token), *certificate, *key};
    if (!access.exec) return found;
    if (Result<Done> asked = ask_plugin(found); !asked.ok()) return asked.error();
    return found;
  }
};

Credentials::Credentials(Access access, SteadyClock clock) : state_(std::make_unique<State>()) {
  state_->access = std::move(access);
  state_->clock = std::move(clock);
}
Credentials::~Credentials() = default;

Result<std::string> Credentials::authorities() const {
  Result<std::string> read = content_of(state_->access.ca);
  if (!read.ok()) return state_->unhappy(fmt::format("no certificate authority: {}", read.error().message));
  return read;
}

Result<Identity> Credentials::current() {
  std::scoped_lock lock(state_->mutex);
  if (state_->fresh()) return *state_->identity;
  Result<Identity> found = state_->gather();
  if (!found.ok()) return found;
  state_->identity = *found;
  state_->read_at = state_->clock();
  return found;
}

void Credentials::refused() {
  std::scoped_lock lock(state_->mutex);
  state_->identity.reset();
}

Surroundings surroundings() {
  return {text_of("KUBECONFIG"), text_of("HOME"), text_of("KUBERNETES_SERVICE_HOST"),
          text_of("KUBERNETES_SERVICE_PORT")};
}

namespace {

Result<Access> service_account_access(const Surroundings& around) {
  Access access;
  access.where = "the service account of this pod";
  bool six = around.service_host.find(':') != std::string::npos;
  access.server =
      fmt::format("https://{}:{}", six ? fmt::format("[{}]", around.service_host) : around.service_host,
                  around.service_port.empty() ? "443" : around.service_port);
  access.token.file = around.service_account + "/token";
  access.ca.file = around.service_account + "/ca.crt";
  Result<std::string> ns = read_file(around.service_account + "/namespace");
  if (ns.ok()) access.ns = trimmed(*ns);
  return access;
}

std::vector<std::string> split_paths(const std::string& list) {
  std::vector<std::string> paths;
  std::istringstream in(list);
  for (std::string path; std::getline(in, path, ':');) {
    if (!path.empty()) paths.push_back(path);
  }
  return paths;
}

}  // namespace

Result<Access> find_access(const Surroundings& around, const std::string& file, const std::string& context) {
  std::vector<std::string> paths = split_paths(around.kubeconfig);
  bool fallback = file.empty() && paths.empty();
  if (!file.empty()) paths = {file};
  if (fallback) paths = {around.home + "/.kube/config"};
  std::vector<ConfigText> texts;
  std::string missing;
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) {
      missing += fmt::format("{}{}", missing.empty() ? "" : ", ", path);
      continue;
    }
    Result<std::string> text = read_file(path);
    if (!text.ok()) return Error{ErrorKind::kInvalid, text.error().message};
    texts.push_back({std::filesystem::absolute(path).lexically_normal().string(), *text});
  }
  if (!texts.empty()) return read_kubeconfig(texts, context);
  if (fallback && !around.service_host.empty()) return service_account_access(around);
  return Error{ErrorKind::kInvalid, fmt::format("there is no kubeconfig: {} does not exist", missing)};
}

}  // namespace trainyard::client
