#include "cli/keys.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/encoder.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

namespace trainyard::cli {
namespace {

template <typename T, void (*kFree)(T*)>
struct Freer {
  void operator()(T* p) const { kFree(p); }
};
using KeyHandle = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY, EVP_PKEY_free>>;
using EncoderHandle = std::unique_ptr<OSSL_ENCODER_CTX, Freer<OSSL_ENCODER_CTX, OSSL_ENCODER_CTX_free>>;
using NumberHandle = std::unique_ptr<BIGNUM, Freer<BIGNUM, BN_free>>;

Error openssl_error(std::string_view doing) {
  char text[256] = "no reason given";
  if (unsigned long code = ERR_get_error(); code != 0) ERR_error_string_n(code, text, sizeof text);
  return {ErrorKind::kUnavailable, fmt::format("{}: {}", doing, text)};
}

Result<std::string> private_pem(EVP_PKEY* key) {
  EncoderHandle encoder(
      OSSL_ENCODER_CTX_new_for_pkey(key, EVP_PKEY_KEYPAIR, "PEM", "type-specific", nullptr));
  unsigned char* data = nullptr;
  size_t size = 0;
  if (!encoder || OSSL_ENCODER_to_data(encoder.get(), &data, &size) != 1) {
    return openssl_error("cannot write the private key");
  }
  std::string pem(reinterpret_cast<const char*>(data), size);
  OPENSSL_free(data);
  return pem;
}

// RFC 4251: a length of four bytes, most significant first, then the bytes.
void append_field(std::string& blob, std::string_view bytes) {
  for (int shift = 24; shift >= 0; shift -= 8) blob += static_cast<char>(bytes.size() >> shift & 0xff);
  blob += bytes;
}

void append_number(std::string& blob, const BIGNUM* number) {
  std::vector<unsigned char> bytes(static_cast<size_t>(BN_num_bytes(number)));
  BN_bn2bin(number, bytes.data());
  std::string text(bytes.begin(), bytes.end());
  bool looks_negative = !bytes.empty() && (bytes[0] & 0x80) != 0;
  append_field(blob, looks_negative ? std::string(1, '\0') + text : text);
}

std::string base64(const std::string& bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(size));
  return text;
}

Result<std::string> public_ssh(EVP_PKEY* key) {
  BIGNUM* exponent = nullptr;
  BIGNUM* modulus = nullptr;
  bool found = EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &exponent) == 1 &&
               EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_N, &modulus) == 1;
  NumberHandle keep_exponent(exponent);
  NumberHandle keep_modulus(modulus);
  if (!found) return openssl_error("cannot read the public key");
  std::string blob;
  append_field(blob, "ssh-rsa");
  append_number(blob, exponent);
  append_number(blob, modulus);
  return "ssh-rsa " + base64(blob) + "\n";
}

}  // namespace

Result<dialect::KeyPair> make_key_pair() {
  constexpr unsigned kBits = 2048;
  KeyHandle key(EVP_RSA_gen(kBits));
  if (!key) return openssl_error("cannot make an RSA key");
  Result<std::string> pem = private_pem(key.get());
  if (!pem.ok()) return pem.error();
  Result<std::string> ssh = public_ssh(key.get());
  if (!ssh.ok()) return ssh.error();
  return dialect::KeyPair{pem.value(), ssh.value()};
}

}  // namespace trainyard::cli
