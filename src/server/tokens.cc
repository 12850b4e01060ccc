#include "server/tokens.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "kube/access.h"
#include "kube/objects.h"
#include "kube/yaml.h"

namespace trainyard::server {
namespace {

using kube::jview;

constexpr std::string_view kHeader = R"({"alg":"HS256","typ":"JWT"})";
constexpr std::string_view kIssuer = "https://kubernetes.default.svc";

std::string base64url(std::string_view bytes) {
  std::string text = kube::encode_base64(bytes);
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  text.erase(std::find(text.begin(), text.end(), '='), text.end());
  return text;
}

std::optional<std::string> from_base64url(std::string_view text) {
  std::string plain(text);
  std::replace(plain.begin(), plain.end(), '-', '+');
  std::replace(plain.begin(), plain.end(), '_', '/');
  plain.append((4 - plain.size() % 4) % 4, '=');
  return kube::decode_base64(plain);
}

std::string sign(std::string_view secret, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> mac{};
  unsigned size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac.data(), &size);
  return {reinterpret_cast<const char*>(mac.data()), size};
}

// In a time that does not tell where they differ. How long a token is everybody may know.
bool same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

User account_user(const json::object& claims) {
  std::string ns(kube::text_at(claims, {"kubernetes.io", "namespace"}));
  return {.name = std::string(kube::text_at(claims, {"sub"})),
          .uid = std::string(kube::text_at(claims, {"kubernetes.io", "serviceaccount", "uid"})),
          .groups = {"system:serviceaccounts", "system:serviceaccounts:" + ns, "system:authenticated"}};
}

}  // namespace

Tokens::Tokens(std::string secret) : secret_(std::move(secret)) { CHECK(!secret_.empty()); }

std::optional<User> Tokens::user_of(std::string_view token, Time now) const {
  if (same(token, secret_)) return administrator();
  size_t dot = token.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  std::string_view text = token.substr(0, dot);
  if (!same(token.substr(dot + 1), base64url(sign(secret_, text)))) return std::nullopt;
  std::optional<std::string> claims_text = from_base64url(text.substr(text.find('.') + 1));
  if (!claims_text) return std::nullopt;
  Result<json::value> claims = kube::parse_json(*claims_text);
  if (!claims.ok() || !claims->is_object()) return std::nullopt;
  std::optional<int64_t> end = kube::int_at(claims->get_object(), {"exp"});
  if (!end || Time{*end * 1000} <= now) return std::nullopt;
  return account_user(claims->get_object());
}

std::string Tokens::issue(std::string_view ns, std::string_view account, std::string_view uid, Time now,
                          Time expires) const {
  json::object about{
      {"namespace", jview(ns)},
      {"serviceaccount", json::object{{"name", jview(account)}, {"uid", jview(uid)}}},
  };
  json::object claims{
      {"aud", json::array{jview(kIssuer)}},
      {"exp", expires.ms / 1000},
      {"iat", now.ms / 1000},
      {"iss", jview(kIssuer)},
      {"kubernetes.io", std::move(about)},
      {"sub", fmt::format("system:serviceaccount:{}:{}", ns, account)},
  };
  std::string text = base64url(kHeader) + "." + base64url(json::serialize(claims));
  return text + "." + base64url(sign(secret_, text));
}

User administrator() {
  return {.name = "kubernetes-admin", .uid = "", .groups = {"system:masters", "system:authenticated"}};
}

}  // namespace trainyard::server
