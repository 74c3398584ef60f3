/// The keys of a site or route for uploads.
package struct UploadSettings: Hashable, Sendable {
  package enum Delivery: String, Hashable, Sendable, CaseIterable {
    case atMostOnce = "at-most-once", atLeastOnce = "at-least-once"
  }
  package enum TusForward: String, Hashable, Sendable, CaseIterable { case raw, multipart }
  package enum PlainUploads: String, Hashable, Sendable, CaseIterable { case stream, spool }
  package enum CrossOrigin: Hashable, Sendable { case off, any, origins([String]) }

  /// The largest upload in bytes; `nil`: only the spool limits it, and content that is passed on without the spool has no limit.
  package var maxUpload: UInt64?
  /// The least size in bytes of a resumable upload. A smaller one that comes complete in one request (`Upload-Complete: ?1`,
  /// length known) is passed on as a plain request.
  package var minResumable: UInt64 = 64 << 10
  /// Whether the fields of the IETF draft for resumable uploads are accepted in requests without `Upload-Draft-Interop-Version`.
  package var finalDialect = false
  /// The slowest rate of an upload; the connection of a slower client is closed.
  package var minRate = Rate(bytes: 1 << 10, per: .seconds(60))
  package var delivery = Delivery.atMostOnce
  /// The time after which a completed upload that cannot be delivered is dropped; `nil`: never.
  package var forwardGiveUp: Duration?
  /// How long the final response of an upload can be requested again (`response-ttl`).
  package var responseTTL = Duration.seconds(3600)
  /// The largest content, in bytes, of an upload's final response that is kept for later requests (``responseTTL``).
  package var responseMax: UInt64 = 1 << 20
  package var tusForward = TusForward.raw
  /// The name of the form field with the file in a `multipart` request to the origin.
  package var tusField = "file"
  /// Further fields of a `multipart` request, before the file.
  package var tusForm: [FormEntry] = []
  /// How long the response to the last PATCH of a tus upload waits for the origin's response.
  package var tusWait = Duration.seconds(50)
  package var plainUploads = PlainUploads.stream
  /// A path on the upstream that is requested before an upload is accepted, and before it is delivered.
  package var authRequest: String?
  package var cors = CrossOrigin.off

  package init() {}

  /// The value of `cors` as the list of words in the configuration.
  private var corsWords: [String] {
    get {
      switch cors {
      case .off: []
      case .any: ["*"]
      case .origins(let origins): origins
      }
    }
    set { cors = newValue.isEmpty ? .off : newValue == ["*"] ? .any : .origins(newValue) }
  }

  static var keys: [Key<UploadSettings>] {
    [
      .scalar("max-upload", \.maxUpload, .optional(.size(1...(1 << 62)), word: "0")),
      .scalar("min-resumable", \.minResumable, .size()),
      .scalar("final-dialect", \.finalDialect, .boolean),
      .scalar("min-rate", \.minRate, .rate),
      .scalar("delivery", \.delivery, .choice()),
      .scalar("forward-give-up", \.forwardGiveUp, .optional(.positiveTime, word: "off")),
      .scalar("response-ttl", \.responseTTL, .time),
      .scalar("response-max", \.responseMax, .size()),
      .scalar("tus-forward", \.tusForward, .choice()),
      .scalar("tus-field", \.tusField, .formField),
      .entries("tus-form", \.tusForm, .formEntry, empty: "none", splitting: FormEntry.split),
      .scalar("tus-wait", \.tusWait, .time),
      .scalar("plain-uploads", \.plainUploads, .choice()),
      .scalar("auth-request", \.authRequest, .optional(.requestPath, word: "none")),
      .list("cors", \.corsWords, .crossOrigin, empty: "off", commas: true),
    ]
  }
}

/// A form field with its value, such as `title={title}`. `{title}` is replaced by the value of the key `title` in the upload's
/// metadata.
package struct FormEntry: Hashable, Sendable, CustomStringConvertible {
  package var name: String
  package var template: String

  package init(name: String, template: String) { (self.name, self.template) = (name, template) }

  package var description: String { "\(name)=\(template)" }

  /// The entry as it is written in the configuration. A comma after which another field would begin is doubled.
  var written: String {
    var output = ""
    var rest = Substring(description)
    while let comma = rest.firstIndex(of: ",") {
      let behind = rest[rest.index(after: comma)...]
      output += rest[...comma] + (behind.hasPrefix(",") || Self.beginsField(behind) ? "," : "")
      rest = behind
    }
    return output + rest
  }

  /// Splits a line into its fields. A comma begins the next field if `NAME=` follows; otherwise it is part of the text. `,,` is
  /// always a comma of the text.
  static func split(_ line: String) -> [String] {
    var fields = [""]
    var rest = Substring(line)
    while let comma = rest.firstIndex(of: ",") {
      fields[fields.count - 1] += rest[..<comma]
      rest = rest[rest.index(after: comma)...]
      if !rest.hasPrefix(","), beginsField(rest) {
        fields.append("")
        rest = rest.drop { $0 == " " || $0 == "\t" }
      } else {
        fields[fields.count - 1] += ","
        if rest.hasPrefix(",") { rest = rest.dropFirst() }
      }
    }
    fields[fields.count - 1] += rest
    return fields
  }

  private static func beginsField(_ text: Substring) -> Bool {
    let word = text.drop { $0 == " " || $0 == "\t" }.prefix { $0 != "=" && !" \t,{}".contains($0) }
    return !word.isEmpty && text[word.endIndex...].hasPrefix("=")
  }
}
