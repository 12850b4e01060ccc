// A fresh RSA key pair for Volcano's ssh plugin. Not pure: asks the system for chance,
// and takes some 100 ms.
#pragma once

#include "base/result.h"
#include "dialect/shared/dialect.h"

namespace trainyard::cli {

// RSA-2048: the private key as PKCS#1 PEM, the public one as "ssh-rsa AAAA...\n".
Result<dialect::KeyPair> make_key_pair();

}  // namespace trainyard::cli
