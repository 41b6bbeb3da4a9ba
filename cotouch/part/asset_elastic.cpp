// Parts that bend, in asset files.
#include <cotouch/part/asset_format.h>

#include <algorithm>
#include <cmath>

namespace cotouch::asset {
namespace {

constexpr std::size_t k_first = static_cast<std::size_t>(Kind::elastic);

static_assert(sizeof(Material) == 40 && sizeof(TetSettings) == 16, "extend the asset format");
struct ElasticInfo {
  std::uint32_t law = 0, coordinates = 0, domains = 0, target_tets = 0;
  std::uint32_t anchored = 0, zero = 0;
  double edge = 0;
  double young = 0, poisson = 0, density = 0, mass_damping = 0, stiffness_damping = 0;
};
static_assert(sizeof(ElasticInfo) == 72);

// How much of the arrays of all domains is one's.
struct DomainField {
  FieldHeader header;
  std::uint64_t bricks = 0, samples = 0, coarse = 0;  // numbers
};
static_assert(sizeof(DomainField) == 72);

struct Joined {
  std::vector<DomainField> fields;
  std::vector<std::uint32_t> bricks;
  std::vector<std::int16_t> samples;
  std::vector<float> coarse;
};

Joined joined_fields(const ElasticModel& model) {
  Joined all;
  if (model.data().domains.size() < 2) return all;
  for (std::size_t i = 0; i < model.data().domains.size(); ++i) {
    const FieldData& field = model.domain_field(i).data();
    all.fields.push_back({header_of(field), field.brick_index.size(), field.samples.size(), field.coarse.size()});
    all.bricks.insert(all.bricks.end(), field.brick_index.begin(), field.brick_index.end());
    all.samples.insert(all.samples.end(), field.samples.begin(), field.samples.end());
    all.coarse.insert(all.coarse.end(), field.coarse.begin(), field.coarse.end());
  }
  return all;
}

std::vector<Field> read_domain_fields(const Reader& reader, const std::shared_ptr<const void>& keep_alive) {
  auto bricks = reader.array<std::uint32_t>(Kind::domain_bricks);
  auto samples = reader.array<std::int16_t>(Kind::domain_samples);
  auto coarse = reader.array<float>(Kind::domain_coarse);
  std::vector<Field> fields;
  const auto take = [&](auto& from, std::uint64_t count) {
    if (count > from.size()) reader.damaged("the fields of its domains are incomplete");
    const auto part = from.first(static_cast<std::size_t>(count));
    from = from.subspan(static_cast<std::size_t>(count));
    return part;
  };
  const std::span<const DomainField> headers = reader.array<DomainField>(Kind::domain_fields);
  if (headers.size() > k_most_domains) reader.damaged("it has too many domains");
  for (const DomainField& domain : headers) {
    FieldData data = data_of(domain.header);
    data.brick_index = take(bricks, domain.bricks);
    data.samples = take(samples, domain.samples);
    data.coarse = take(coarse, domain.coarse);
    fields.emplace_back(data, keep_alive);
  }
  if (!bricks.empty() || !samples.empty() || !coarse.empty())
    reader.damaged("something follows the fields of its domains");
  return fields;
}

ElasticSettings read_settings(const Reader& reader, const ElasticInfo& info) {
  ElasticSettings settings;
  settings.material = {info.young, info.poisson, info.density, info.mass_damping, info.stiffness_damping};
  settings.law = static_cast<ElasticLaw>(info.law);
  settings.coordinates = info.coordinates;
  settings.domains = info.domains;
  settings.tets = {info.edge, info.target_tets};
  const std::span<const char> anchors = reader.array<char>(Kind::anchors);
  for (auto begin = anchors.begin(); begin != anchors.end();) {
    const auto end = std::find(begin, anchors.end(), '\n');
    settings.anchors.push_back(parse_anchor(std::string(begin, end)));
    begin = end == anchors.end() ? end : end + 1;
  }
  if (!std::isfinite(info.edge) || info.edge < 0) reader.damaged("its elastic settings are not numbers");
  check_elastic(settings);
  return settings;
}

}  // namespace

std::vector<Bytes> elastic_sections(const Part& part, std::vector<std::shared_ptr<const void>>& memory) {
  std::vector<Bytes> sections(k_kinds + 1 - k_first);
  if (!part.elastic || !part.settings.elastic) return sections;
  const ElasticData& data = part.elastic->data();
  const ElasticSettings& settings = *part.settings.elastic;
  const auto at = [&](Kind kind) -> Bytes& { return sections[static_cast<std::size_t>(kind) - k_first]; };
  const auto keep = [&](auto value) {
    const auto kept = std::make_shared<const decltype(value)>(std::move(value));
    memory.push_back(kept);
    return kept;
  };
  const Material& m = settings.material;
  const auto info = keep(ElasticInfo{static_cast<std::uint32_t>(data.law), data.size, settings.domains,
                                     settings.tets.target_tets, data.anchored ? 1U : 0U, 0, settings.tets.edge, m.young,
                                     m.poisson, m.density, m.mass_damping, m.stiffness_damping});
  std::string anchors;
  for (const Anchor& anchor : settings.anchors) {
    if (!anchors.empty()) anchors += '\n';
    anchors += to_string(anchor);
  }
  const auto anchor_text = keep(std::move(anchors));
  const auto fields = keep(joined_fields(*part.elastic));
  at(Kind::elastic) = bytes_of(*info);
  at(Kind::anchors) = std::as_bytes(std::span(*anchor_text));
  at(Kind::tet_nodes) = std::as_bytes(data.nodes);
  at(Kind::tets) = std::as_bytes(data.tets);
  at(Kind::shapes) = std::as_bytes(data.shapes);
  at(Kind::rotations) = std::as_bytes(data.rotations);
  at(Kind::stiffness) = std::as_bytes(data.stiffness);
  at(Kind::polynomials) = std::as_bytes(data.stvk.coefficients);
  at(Kind::weight) = std::as_bytes(data.weight);
  at(Kind::shell_embedding) = std::as_bytes(data.shell);
  at(Kind::mesh_embedding) = std::as_bytes(data.mesh);
  at(Kind::spread) = std::as_bytes(data.spread);
  at(Kind::proxies) = std::as_bytes(data.proxies);
  at(Kind::slopes) = std::as_bytes(data.slopes);
  at(Kind::domains) = std::as_bytes(data.domains);
  at(Kind::domain_fields) = std::as_bytes(std::span(fields->fields));
  at(Kind::domain_bricks) = std::as_bytes(std::span(fields->bricks));
  at(Kind::domain_samples) = std::as_bytes(std::span(fields->samples));
  at(Kind::domain_coarse) = std::as_bytes(std::span(fields->coarse));
  return sections;
}

void read_elastic(const Reader& reader, const std::shared_ptr<const void>& keep_alive, Part& part) {
  if (!reader.has(Kind::elastic)) return;
  if (!part.shell.has_tree() || part.field.data().brick_index.empty())
    reader.damaged("what bends has no distance field or no pointshell with its tree");
  const ElasticInfo& info = reader.one<ElasticInfo>(Kind::elastic);
  ElasticData data;
  data.law = static_cast<ElasticLaw>(info.law);
  data.size = info.coordinates;
  data.anchored = info.anchored != 0;
  data.mass_damping = info.mass_damping;
  data.stiffness_damping = info.stiffness_damping;
  data.nodes = reader.array<Vec3f>(Kind::tet_nodes);
  data.tets = reader.array<Tet>(Kind::tets);
  data.shapes = reader.array<float>(Kind::shapes);
  data.rotations = reader.array<float>(Kind::rotations);
  data.stiffness = reader.array<double>(Kind::stiffness);
  data.stvk = {data.law == ElasticLaw::stvk ? data.size : 0, reader.array<double>(Kind::polynomials)};
  data.weight = reader.array<double>(Kind::weight);
  data.shell = reader.array<EmbeddedPoint>(Kind::shell_embedding);
  data.mesh = reader.array<EmbeddedPoint>(Kind::mesh_embedding);
  data.spread = reader.array<float>(Kind::spread);
  data.proxies = reader.array<ElasticProxy>(Kind::proxies);
  data.slopes = reader.array<float>(Kind::slopes);
  data.domains = reader.array<ElasticDomain>(Kind::domains);
  part.elastic = std::make_shared<const ElasticModel>(data, read_domain_fields(reader, keep_alive), keep_alive);
  if (data.shell.size() != part.shell.point_count() || data.mesh.size() != part.mesh.vertices.size() ||
      data.spread.size() != std::size_t{2} * data.stride() * part.shell.branch_count() || data.proxies.empty())
    reader.damaged("what bends is not the part that is there");
  part.settings.elastic = read_settings(reader, info);
}

}  // namespace cotouch::asset
