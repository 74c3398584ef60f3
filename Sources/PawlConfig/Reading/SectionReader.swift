/// A section that was read into `Model`, with the place where each value was set.
struct ReadSection<Model> {
  var label: SectionLabel
  var origin: ValueOrigin
  var model: Model
  /// For each key that was written: the place (file and line) of its value; for a list, the place of each element.
  var origins = [String: [ValueOrigin]]()
  /// The keys whose value was refused, or is required but missing.
  var refused = Set<String>()
  /// The keys with a value that came from a file of its own (`${file:PATH}`).
  var fromFiles = Set<String>()
  /// The list keys whose last entry emptied the list.
  var emptied = Set<String>()

  /// Returns the place where a key's value was set; the place of the section's header if the key was not written.
  func origin(of key: String, element: Int = 0) -> ValueOrigin {
    guard let written = origins[key], !written.isEmpty else { return origin }
    return written[min(element, written.count - 1)]
  }

  func effective(_ keys: [Key<Model>]) -> EffectiveSection {
    let values = keys.flatMap { key in
      key.show(model).enumerated().map { index, text in
        let written = origins[key.name] ?? []
        let origin = written.isEmpty ? ValueOrigin.builtIn : written[min(index, written.count - 1)]
        return EffectiveSection.Value(
          key: key.name, text: text, origin: origin, isSecret: !written.isEmpty && fromFiles.contains(key.name))
      }
    }
    return EffectiveSection(label: label.text, origin: origin, values: values)
  }
}

/// Reads the entries of a section into `model`, which has the defaults or the inherited values.
///
/// - Parameters:
///   - inherited: the places of the values that `model` already has.
///   - satisfied: required keys that need not be written, because they are inherited.
func readSection<Model>(
  _ section: Section, over model: Model, keys: [Key<Model>], inherited: [String: [ValueOrigin]] = [:],
  satisfied: Set<String> = [], issues: inout [Issue]
) -> ReadSection<Model> {
  var result = ReadSection(
    label: section.label, origin: section.origin, model: model, origins: inherited, refused: section.refused)
  var first = [String: ValueOrigin]()
  for entry in section.entries {
    guard let key = keys.first(where: { $0.name == entry.key }) else {
      issues.append(unknownKey(entry, in: section))
      continue
    }
    if let earlier = first[key.name], !key.isList {
      issues.append(
        Issue(at: entry.origin, section: section.label.text, key: key.name, "this key is already set at \(earlier)"))
      continue
    }
    result.fromFiles.formUnion(entry.fromFiles.isEmpty ? [] : [key.name])
    readEntry(entry, key, isFirst: first[key.name] == nil, &result, &issues)
    first[key.name] = first[key.name] ?? entry.origin
  }
  for key in keys where key.isRequired && first[key.name] == nil {
    if satisfied.contains(key.name) || section.refused.contains(key.name) { continue }
    issues.append(Issue(at: section.origin, section: section.label.text, key: key.name, "required, but missing"))
    result.refused.insert(key.name)
  }
  return result
}

private func readEntry<Model>(
  _ entry: Entry, _ key: Key<Model>, isFirst: Bool, _ result: inout ReadSection<Model>, _ issues: inout [Issue]
) {
  if isFirst || result.emptied.remove(key.name) != nil || (key.isList && entry.value.isEmpty) {
    key.clear(&result.model)
    result.origins[key.name] = []
  }
  do throws(BadValue) {
    let count = try key.read(&result.model, entry)
    if count == 0 { result.emptied.insert(key.name) }
    result.origins[key.name, default: []] += Array(repeating: entry.origin, count: max(1, count))
    if isQuoted(entry.value), !key.mayHaveQuotes {
      issues.append(
        Issue(
          .warning, at: entry.origin, section: result.label.text, key: key.name,
          "the quotes are a part of the value: values stand without quotes"))
    }
  } catch {
    result.refused.insert(key.name)
    let shown = entry.isInserted ? error.withoutValue : error
    issues.append(
      Issue(
        at: entry.origin, section: result.label.text, key: key.name, shown.message + habit(in: entry.value),
        suggestion: shown.suggestion))
  }
}

private func isQuoted(_ value: String) -> Bool {
  guard value.count > 1, let first = value.first, first == value.last else { return false }
  return first == "\"" || first == "'"
}

/// Returns what to say of a refused value that is written as in another program's configuration; empty: nothing.
private func habit(in value: String) -> String {
  if value.hasSuffix(";") { return "; a line has no ; at its end" }
  return isQuoted(value) ? "; a value stands without quotes" : ""
}
