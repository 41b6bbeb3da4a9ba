#include <cotouch/base/error.h>
#include <cotouch/reader/xml_head.h>

#include <expat.h>

#include <algorithm>
#include <memory>

namespace cotouch {
namespace {

constexpr std::size_t k_most_elements = 10'000, k_most_text = 256, k_piece = 1U << 16;

struct Reading {
  XML_Parser parser = nullptr;
  std::string_view last;
  std::vector<XmlElement> elements;
  std::vector<std::size_t> open;  // elements that have begun and not ended
  bool found = false, has_entities = false;

  void stop() { XML_StopParser(parser, XML_FALSE); }
};

std::string_view local_name(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

// expat calls these from C: nothing may be thrown through it.
void on_start(void* user, const XML_Char* name, const XML_Char** attributes) noexcept {
  auto& reading = *static_cast<Reading*>(user);
  if (reading.elements.size() >= k_most_elements) return reading.stop();
  XmlElement element;
  element.name = local_name(name);
  for (; attributes[0] != nullptr; attributes += 2)
    element.attributes.emplace_back(local_name(attributes[0]), attributes[1]);
  reading.open.push_back(reading.elements.size());
  reading.elements.push_back(std::move(element));
  if (reading.last.empty()) {
    reading.found = true;
    reading.stop();
  }
}

void on_end(void* user, const XML_Char* name) noexcept {
  auto& reading = *static_cast<Reading*>(user);
  reading.open.pop_back();
  if (local_name(name) == reading.last) {
    reading.found = true;
    reading.stop();
  }
}

void on_text(void* user, const XML_Char* text, int length) noexcept {
  auto& reading = *static_cast<Reading*>(user);
  if (reading.open.empty()) return;
  std::string& out = reading.elements[reading.open.back()].text;
  out.append(text, std::min(static_cast<std::size_t>(length), k_most_text - std::min(out.size(), k_most_text)));
}

void on_entity(void* user, const XML_Char*, int, const XML_Char*, int, const XML_Char*, const XML_Char*,
               const XML_Char*, const XML_Char*) noexcept {
  auto& reading = *static_cast<Reading*>(user);
  reading.has_entities = true;
  reading.stop();
}

// Encodings that expat does not know are read as if they were Latin 1: names and numbers are the same in all of them.
int on_encoding(void*, const XML_Char*, XML_Encoding* encoding) noexcept {
  for (int i = 0; i < 256; ++i) encoding->map[i] = i;
  encoding->data = nullptr;
  encoding->convert = nullptr;
  encoding->release = nullptr;
  return XML_STATUS_OK;
}

}  // namespace

std::string_view XmlElement::value(std::string_view attribute) const {
  for (const auto& [known, found] : attributes)
    if (known == attribute) return found;
  return {};
}

std::vector<XmlElement> xml_head(std::string_view text, std::string_view last, bool whole) {
  const std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)> parser(XML_ParserCreate(nullptr), XML_ParserFree);
  if (!parser) throw std::bad_alloc();
  Reading reading;
  reading.parser = parser.get();
  reading.last = last;
  XML_SetUserData(parser.get(), &reading);
  XML_SetElementHandler(parser.get(), on_start, on_end);
  XML_SetCharacterDataHandler(parser.get(), on_text);
  XML_SetEntityDeclHandler(parser.get(), on_entity);
  XML_SetUnknownEncodingHandler(parser.get(), on_encoding, nullptr);
  bool more = true;
  while (more && !reading.found) {
    const std::string_view piece = text.substr(0, k_piece);
    text.remove_prefix(piece.size());
    more = !text.empty();
    if (XML_Parse(parser.get(), piece.data(), static_cast<int>(piece.size()), !more && whole ? 1 : 0) ==
            XML_STATUS_OK ||
        reading.found)
      continue;
    if (reading.has_entities)
      throw Error("defines entities of its own, which no mesh file needs. Export it again.", ErrorCode::damaged_file);
    if (reading.elements.size() >= k_most_elements) break;
    throw Error("is damaged: line " + std::to_string(XML_GetCurrentLineNumber(parser.get())) +
                    " of its text is no XML (" + XML_ErrorString(XML_GetErrorCode(parser.get())) +
                    "). Export it again.",
                ErrorCode::damaged_file);
  }
  return std::move(reading.elements);
}

}  // namespace cotouch
