// The plane's identity on disk: its own authority, the server's and the administrator's
// certificate, and the token. Made once, renewed a month before they end. The folder has
// mode 0700, its files 0600; a file is replaced whole or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "server/certificates.h"

namespace trainyard::server {

struct TlsFiles {
  std::string ca_certificate;  // PEM
  KeyPair server;
  KeyPair admin;
  std::string token;
};

// Names by which every plane may be called.
std::vector<std::string> own_names();

// Reads DIR/{ca,server,admin}.{crt,key} and DIR/token and makes what is missing, damaged,
// about to end or does not cover own_names() and `more_names`. kUnavailable when the disk
// refuses.
Result<TlsFiles> ensure_tls_files(const std::filesystem::path& dir,
                                  const std::vector<std::string>& more_names, Time now);

}  // namespace trainyard::server
