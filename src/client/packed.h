// Packed: an object at rest in a cache: the document as it came, or its text, which takes a
// third of the memory and is read again whenever somebody asks for it; among many of a kind what
// sets the text apart from others (alike.h), which takes a fifth of that. Value; pure.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "client/alike.h"
#include "client/client.h"

namespace trainyard::client {

// Documents are for objects that somebody else holds anyway, and for those that are read often.
enum class Form { kDocument, kText };

class Packed {
 public:
  // `patterns`: of the texts beside which it will lie; null where it lies among few.
  Packed(const Object& object, Form form, Patterns* patterns = nullptr);

  // Of a text another document each time, of equal content.
  Object object() const;
  int64_t version() const { return version_; }

  // From now on as text.
  void shorten(Patterns* patterns);
  // Remembers who it is and whose, for is_akin().
  void note_kin();
  // Whether both are known to be the same object, of the same owners and with the same labels; false when
  // that was not noted. (Of all that differ one pair in 2^64 is taken for akin.)
  bool is_akin(const Packed& other) const { return kin_ != 0 && kin_ == other.kin_; }

 private:
  int64_t version_ = 0;
  uint64_t kin_ = 0;
  std::variant<Object, std::string, Alike> held_;
};

}  // namespace trainyard::client
