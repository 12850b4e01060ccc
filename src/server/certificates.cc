#include "server/certificates.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <array>

#include "base/check.h"

namespace trainyard::server {
namespace {

template <auto Free>
struct Freed {
  template <typename T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};
using Cert = std::unique_ptr<X509, Freed<X509_free>>;
using PrivateKey = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Bio = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>>;

// Clocks of clients may be a little behind.
constexpr Duration kBackdate = std::chrono::hours{1};

Error failed(std::string_view what) {
  std::array<char, 200> reason{};
  ERR_error_string_n(ERR_get_error(), reason.data(), reason.size());
  return {ErrorKind::kUnavailable, fmt::format("{} failed: {}", what, reason.data())};
}

std::string text_of(BIO* bio) {
  char* data = nullptr;
  long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<size_t>(size)};
}

Bio reader(std::string_view text) { return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }

Cert read_certificate(std::string_view pem) {
  return Cert(PEM_read_bio_X509(reader(pem).get(), nullptr, nullptr, nullptr));
}

PrivateKey read_key(std::string_view pem) {
  return PrivateKey(PEM_read_bio_PrivateKey(reader(pem).get(), nullptr, nullptr, nullptr));
}

Result<KeyPair> write_pair(X509* certificate, EVP_PKEY* key) {
  Bio cert_text(BIO_new(BIO_s_mem()));
  Bio key_text(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_X509(cert_text.get(), certificate) != 1 ||
      PEM_write_bio_PrivateKey(key_text.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return failed("writing a certificate");
  }
  return KeyPair{text_of(cert_text.get()), text_of(key_text.get())};
}

bool set_serial(X509* certificate) {
  std::array<unsigned char, 16> bytes{};
  if (RAND_bytes(bytes.data(), bytes.size()) != 1) return false;
  bytes[0] &= 0x7f;  // positive
  BIGNUM* number = BN_bin2bn(bytes.data(), bytes.size(), nullptr);
  bool done = BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nullptr;
  BN_free(number);
  return done;
}

void add_name(X509_NAME* name, const char* field, std::string_view value) {
  if (value.empty()) return;
  X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(value.data()),
                             static_cast<int>(value.size()), -1, 0);
}

bool add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  Extension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool set_lifetime(X509* certificate, Duration lifetime, Time now) {
  auto seconds_of = [](Time time) { return static_cast<time_t>(time.ms / 1000); };
  return ASN1_TIME_set(X509_getm_notBefore(certificate), seconds_of(now - kBackdate)) != nullptr &&
         ASN1_TIME_set(X509_getm_notAfter(certificate), seconds_of(now + lifetime)) != nullptr;
}

bool is_ip(const std::string& name) {
  ASN1_OCTET_STRING* address = a2i_IPADDRESS(name.c_str());
  ASN1_OCTET_STRING_free(address);
  return address != nullptr;
}

std::string alternative_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", is_ip(name) ? "IP" : "DNS", name);
  }
  return text;
}

// A certificate for `key` with everything but extensions and signature.
Cert blank(EVP_PKEY* key, Duration lifetime, Time now) {
  Cert certificate(X509_new());
  if (certificate == nullptr || X509_set_version(certificate.get(), 2) != 1 ||
      !set_serial(certificate.get()) || !set_lifetime(certificate.get(), lifetime, now) ||
      X509_set_pubkey(certificate.get(), key) != 1) {
    return nullptr;
  }
  return certificate;
}

}  // namespace

Result<KeyPair> make_authority(std::string_view common_name, Duration lifetime, Time now) {
  PrivateKey key(EVP_EC_gen("P-256"));
  if (key == nullptr) return failed("making a key");
  Cert certificate = blank(key.get(), lifetime, now);
  if (certificate == nullptr) return failed("making a certificate");
  X509* cert = certificate.get();
  add_name(X509_get_subject_name(cert), "CN", common_name);
  X509_set_issuer_name(cert, X509_get_subject_name(cert));
  bool done = add_extension(cert, cert, NID_basic_constraints, "critical,CA:TRUE") &&
              add_extension(cert, cert, NID_key_usage, "critical,keyCertSign,cRLSign") &&
              add_extension(cert, cert, NID_subject_key_identifier, "hash") &&
              X509_sign(cert, key.get(), EVP_sha256()) > 0;
  return done ? write_pair(cert, key.get()) : failed("signing a certificate");
}

Result<KeyPair> issue(const KeyPair& authority, const CertificateRequest& request, Time now) {
  Cert issuer = read_certificate(authority.certificate);
  PrivateKey issuer_key = read_key(authority.key);
  if (issuer == nullptr || issuer_key == nullptr) return failed("reading the authority");
  PrivateKey key(EVP_EC_gen("P-256"));
  if (key == nullptr) return failed("making a key");
  Cert certificate = blank(key.get(), request.lifetime, now);
  if (certificate == nullptr) return failed("making a certificate");
  X509* cert = certificate.get();
  add_name(X509_get_subject_name(cert), "O", request.organization);
  add_name(X509_get_subject_name(cert), "CN", request.common_name);
  X509_set_issuer_name(cert, X509_get_subject_name(issuer.get()));
  const char* use = request.use == CertificateUse::kServer ? "serverAuth" : "clientAuth";
  bool done = add_extension(cert, issuer.get(), NID_basic_constraints, "critical,CA:FALSE") &&
              add_extension(cert, issuer.get(), NID_key_usage, "critical,digitalSignature") &&
              add_extension(cert, issuer.get(), NID_ext_key_usage, use) &&
              add_extension(cert, issuer.get(), NID_subject_key_identifier, "hash") &&
              add_extension(cert, issuer.get(), NID_authority_key_identifier, "keyid") &&
              (request.names.empty() ||
               add_extension(cert, issuer.get(), NID_subject_alt_name, alternative_names(request.names))) &&
              X509_sign(cert, issuer_key.get(), EVP_sha256()) > 0;
  return done ? write_pair(cert, key.get()) : failed("signing a certificate");
}

Result<Time> expiry_of(std::string_view certificate) {
  Cert cert = read_certificate(certificate);
  if (cert == nullptr) return Error{ErrorKind::kInvalid, "not a certificate"};
  std::tm parts{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(cert.get()), &parts) != 1) {
    return Error{ErrorKind::kInvalid, "a certificate without an end"};
  }
  return Time{static_cast<int64_t>(timegm(&parts)) * 1000};
}

bool is_signed_by(const KeyPair& pair, std::string_view authority_certificate) {
  Cert cert = read_certificate(pair.certificate);
  PrivateKey key = read_key(pair.key);
  Cert authority = read_certificate(authority_certificate);
  bool good = cert != nullptr && key != nullptr && authority != nullptr &&
              X509_check_private_key(cert.get(), key.get()) == 1 &&
              X509_verify(cert.get(), X509_get0_pubkey(authority.get())) == 1;
  ERR_clear_error();
  return good;
}

bool covers(std::string_view certificate, const std::vector<std::string>& names) {
  Cert cert = read_certificate(certificate);
  if (cert == nullptr) return false;
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return is_ip(name) ? X509_check_ip_asc(cert.get(), name.c_str(), 0) == 1
                       : X509_check_host(cert.get(), name.data(), name.size(), 0, nullptr) == 1;
  });
}

std::string random_hex(size_t bytes) {
  std::string raw(bytes, '\0');
  CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(raw.data()), static_cast<int>(bytes)) == 1);
  std::string text;
  for (char c : raw) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

}  // namespace trainyard::server
