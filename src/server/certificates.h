// Certificates: a small authority of our own, in PEM text. Uses OpenSSL's random numbers,
// touches no files; the time is a parameter. Keys are EC P-256.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace trainyard::server {

struct KeyPair {
  std::string certificate;  // PEM
  std::string key;          // PEM, PKCS #8
  bool operator==(const KeyPair&) const = default;
};

enum class CertificateUse { kServer, kClient };

struct CertificateRequest {
  CertificateUse use = CertificateUse::kServer;
  std::string common_name;
  std::string organization;        // "" for none; Kubernetes reads it as a group
  std::vector<std::string> names;  // DNS names and IP addresses it stands for
  Duration lifetime{0};
};

// kUnavailable when OpenSSL fails.
Result<KeyPair> make_authority(std::string_view common_name, Duration lifetime, Time now);
Result<KeyPair> issue(const KeyPair& authority, const CertificateRequest& request, Time now);

// When the first certificate of the text ends; kInvalid when there is none.
Result<Time> expiry_of(std::string_view certificate);
// Whether the authority signed it and the key belongs to it.
bool is_signed_by(const KeyPair& pair, std::string_view authority_certificate);
// Whether it stands for all these names.
bool covers(std::string_view certificate, const std::vector<std::string>& names);

// Hex text of that many random bytes.
std::string random_hex(size_t bytes);

}  // namespace trainyard::server
