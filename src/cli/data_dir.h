// Where the embedded plane keeps things. Everything of one plane lies in one folder.
#pragma once

#include <filesystem>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace trainyard::cli {

// $XDG_STATE_HOME/trainyard, else ~/.local/state/trainyard. kInvalid when there is neither.
Result<std::filesystem::path> default_data_dir();

struct DataDir {
  std::filesystem::path root;

  std::filesystem::path store() const { return root / "store.db"; }
  std::filesystem::path pki() const { return root / "pki"; }
  std::filesystem::path kubeconfig() const { return root / "kubeconfig"; }
  std::filesystem::path lock() const { return root / "lock"; }
  std::filesystem::path log() const { return root / "plane.log"; }
  std::filesystem::path logs() const { return root / "logs"; }
  std::filesystem::path pods() const { return root / "pods"; }
  std::filesystem::path volumes() const { return root / "volumes"; }
  std::filesystem::path images() const { return root / "images"; }
  std::filesystem::path runs() const { return root / "runs"; }  // a folder for each `trainyard run`
};

// The folder that was given, or the default one.
Result<DataDir> data_dir_of(const std::string& given);

// Makes the folder (0700) and takes its lock, writing our process id into it. kAlreadyExists,
// with the other's process id, when another plane has it.
Result<Fd> claim(const DataDir& dir);
// The process that has the folder now; 0 when none has.
int holder_of(const DataDir& dir);

// As a word that a shell takes as it is meant.
std::string for_a_shell(const std::string& word);
// "trainyard up" with what names the folder, unless it is the default one.
std::string up_command(const DataDir& dir);

}  // namespace trainyard::cli
