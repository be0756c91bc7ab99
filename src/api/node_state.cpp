#include "api/node_state.h"

#include "api/object.h"

namespace api {

base::Result<NodeState> decode_node_state(const json::Value& object) {
  return decode_object<NodeState>(object);
}

std::string encode(const NodeState& state) {
  return encode_object(state);
}

std::string encode(const NodeState::Status& status) {
  return json::object([&](json::Object& out) {
    Encoder encoder(out);
    NodeState::Status::fields(status, encoder);
  });
}

}  // namespace api
