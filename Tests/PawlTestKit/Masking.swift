/// Replaces the random digits of pawl's own tags.
package func maskTags(_ text: String) -> String {
  var shown = ""
  var rest = text[...]
  while let start = rest.firstRange(of: "\"pawl-") {
    shown += rest[..<start.upperBound] + "#"
    rest = rest[start.upperBound...].drop { $0 != "\"" }
  }
  return shown + rest
}
