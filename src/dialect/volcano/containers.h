// Small edits that the plugins make to a pod's volumes and containers. Pure.
// What has another shape than a pod's is left alone.
#pragma once

#include "kube/json.h"

namespace trainyard::dialect::vc {

enum class Containers { kMain, kAll };  // kAll: init containers too

void add_volume(json::object& pod, json::object volume);
void add_mount(json::object& pod, json::object mount, Containers where);
void add_env(json::object& pod, json::object entry, Containers where);

}  // namespace trainyard::dialect::vc
