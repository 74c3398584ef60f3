/// Takes out of messages what may be a secret: messages are printed, logged, and shown by the admin interface.
enum Redaction {
  /// Returns the text with `(secret)` in place of the user information of URLs (RFC 3986 §3.2.1): `http://(secret)@host`. A word with
  /// `NAME:PASSWORD@` and without a scheme counts, too.
  static func withoutPasswords(_ text: String) -> String {
    guard text.contains("@") else { return text }
    var (result, word) = ("", Substring())
    var rest = text[...]
    while let end = rest.firstIndex(where: \.isWhitespace) {
      word = rest[..<end]
      result += withoutPassword(word) + String(rest[end])
      rest = rest[rest.index(after: end)...]
    }
    return result + withoutPassword(rest)
  }

  private static func withoutPassword(_ word: Substring) -> String {
    guard let at = word.lastIndex(of: "@") else { return String(word) }
    let start = word.firstRange(of: "://")?.upperBound
    guard let start else {
      let quotes = word.prefix { $0 == "\"" }
      return word[..<at].contains(":") ? quotes + Secret.shown + word[at...] : String(word)
    }
    return start <= at ? word[..<start] + Secret.shown + word[at...] : String(word)
  }

  /// Returns the text with `(secret)` in place of each secret and of each word of it.
  /// - Parameter secrets: words with fewer than four characters are left out: they stand in other words.
  static func without(_ secrets: [String], in text: String) -> String {
    var text = text
    for secret in secrets {
      let words = secret.split { $0 == " " || $0 == "\t" || $0 == "," }.map(String.init)
      for form in [secret] + words where form.count >= 4 {
        text = text.replacing(form, with: Secret.shown).replacing(form.lowercased(), with: Secret.shown)
      }
    }
    return text
  }
}
