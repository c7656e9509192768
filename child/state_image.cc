#include "child/state_image.h"

#include <algorithm>
#include <utility>

#include "child/session_state.h"

namespace weir::child {
namespace {

const StateImage::Setting* find(const StateImage* image, std::string_view parameter) {
  if (image == nullptr) return nullptr;
  const auto it = std::find_if(image->settings.begin(), image->settings.end(), [&](const auto& s) { return s.parameter == parameter; });
  return it != image->settings.end() ? &*it : nullptr;
}

bool has_identity(const StateImage* image) {
  return image != nullptr && std::any_of(image->settings.begin(), image->settings.end(), [](const auto& s) { return is_identity(s.parameter); });
}

std::string key_of(const StateImage& image) {
  std::string key;
  for (const StateImage::Setting& setting : image.settings) {
    for (const std::string* part : {&setting.parameter, &setting.replay}) {
      key += std::to_string(part->size());
      key += ':';
      key += *part;
    }
  }
  return key;
}

}  // namespace

Replay difference(const StateImage* from, const StateImage* to) {
  Replay replay;
  if (from == to) return replay;
  replay.reset_identity = has_identity(from);
  if (from != nullptr) {
    for (const auto& setting : from->settings) {
      if (!is_identity(setting.parameter) && find(to, setting.parameter) == nullptr) replay.statements.push_back(reset_text(setting.parameter));
    }
  }
  if (to == nullptr) return replay;
  for (const auto& setting : to->settings) {
    const auto* had = find(from, setting.parameter);
    if (is_identity(setting.parameter) || had == nullptr || had->replay != setting.replay) replay.statements.push_back(setting.replay);
  }
  return replay;
}

StateImagePtr StateImages::intern(StateImage image) {
  if (image.settings.empty()) return nullptr;
  std::weak_ptr<const StateImage>& slot = images_[key_of(image)];
  if (StateImagePtr known = slot.lock()) return known;
  auto made = std::make_shared<const StateImage>(std::move(image));
  slot = made;
  if (images_.size() > swept_at_) sweep();
  return made;
}

// Those that nobody has any more.
void StateImages::sweep() {
  std::erase_if(images_, [](const auto& entry) { return entry.second.expired(); });
  swept_at_ = std::max<std::size_t>(64, 2 * images_.size());
}

}  // namespace weir::child
