// Names of images as people write them ("busybox", "tensorflow/tensorflow:2.15.0",
// "localhost:5000/a/b@sha256:..."), in full, and what a pull policy means. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace trainyard::node {

struct ImageName {
  std::string host;        // "docker.io" when none was written
  std::string repository;  // "library/busybox"
  std::string tag;         // "latest" when neither tag nor digest was written
  std::string digest;      // "sha256:<hex>", "" when none was written
  bool operator==(const ImageName&) const = default;
};

// kInvalid with what is wrong.
Result<ImageName> parse_image_name(std::string_view text);
// "docker.io/library/busybox:latest"; a digest wins over a tag, so what is named is one image.
std::string full_name(const ImageName& name);
// "docker.io/library/busybox@sha256:...": what runs, whatever its tag comes to mean.
std::string name_by_digest(const ImageName& name, std::string_view digest);
// A registry on this machine may speak plain HTTP.
bool on_loopback(const ImageName& name);

enum class PullPolicy { kAlways, kIfNotPresent, kNever };
// imagePullPolicy as written; "" means Always for the tag latest and IfNotPresent for others.
PullPolicy pull_policy(std::string_view written, const ImageName& name);

enum class ImageChoice {
  kLocal,     // the image that is here
  kPull,      // brought first
  kHostRoot,  // not here and not to be brought: the host's own root
};
// `may_pull`: the user asked for images to be brought.
ImageChoice choose_image(PullPolicy policy, bool is_here, bool may_pull);

}  // namespace trainyard::node
