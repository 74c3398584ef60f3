import PawlBase
import PawlObserve

/// What a transfer does.
enum TransferState: String, Sendable {
  /// For a response, or for a place at the upstream.
  case waiting
  /// The response goes to the client, or the upload to the application.
  case sending
  /// The content of an upload comes from the client.
  case receiving
  /// The content is complete, and the client waits for the application's answer.
  case delivering
  /// A fill that has readers, that waits for them, or that goes on without any.
  case fetching, paused, unread
  /// A delivery whose content is being checked, or whose request is sent to its last byte.
  case preparing, sent
  /// A tunnel.
  case open
  case over
}

/// One running transfer, as it was when its loop looked at it.
struct TransferRow: Sendable {
  /// The most bytes of a target that are listed.
  static let targetLimit = 512

  /// Tells transfers apart while pawl runs: the loop and the number there.
  var key: UInt64
  var kind: TransferKind
  /// The request ID, the ID of the upload, or that of the stored body.
  var id: [UInt8]
  /// The client's address; empty for a fill.
  var client: [UInt8] = []
  /// Without secrets of uploads.
  var target: [UInt8] = []
  var site = ""
  var upstream: String
  var done: UInt64
  /// Bytes in all; `nil`: not known.
  var total: UInt64?
  /// Bytes a second.
  var rate: UInt64 = 0
  /// Milliseconds since it began.
  var age: UInt64
  var state: TransferState
  /// Why it last broke off; `nil`: it did not.
  var lastBreak: String?
  var resumes = 0
  /// The protocol: of the client, for a delivery and a fill of the origin.
  var version: StaticString = "HTTP/1.1"
}

extension [UInt8] {
  /// Appends the transfer as a JSON object.
  mutating func append(json row: TransferRow) {
    append(text: "{\"key\":\"")
    append(decimal: row.key >> 32)
    append(0x2d)
    append(decimal: row.key & 0xffff_ffff)
    append(text: "\",\"kind\":\"")
    append(text: row.kind.word)
    append(text: "\",\"id\":")
    append(quoted: row.id)
    append(text: ",\"client\":")
    append(quotedOrNull: row.client)
    append(text: ",\"target\":")
    append(quotedOrNull: row.target)
    append(text: ",\"site\":")
    append(quotedOrNull: row.site.utf8)
    append(text: ",\"upstream\":")
    append(quotedOrNull: row.upstream.utf8)
    append(text: ",\"protocol\":\"")
    append(text: row.version)
    append(0x22)
    appendProgress(of: row)
    append(text: ",\"age_ms\":")
    append(decimal: row.age)
    append(text: ",\"last_break\":")
    if let why = row.lastBreak { append(quoted: why.utf8) } else { append(text: "null") }
    append(text: ",\"resumes\":")
    append(decimal: UInt64(Swift.max(0, row.resumes)))
    append(0x7d)
  }

  /// Appends what of the transfer changes all the time: `,"state":…,"done":…,"total":…,"rate":…`.
  mutating func appendProgress(of row: TransferRow) {
    append(text: ",\"state\":\"")
    append(contentsOf: row.state.rawValue.utf8)
    append(text: "\",\"done\":")
    append(decimal: row.done)
    append(text: ",\"total\":")
    if let total = row.total { append(decimal: total) } else { append(text: "null") }
    append(text: ",\"rate\":")
    append(decimal: row.rate)
  }

  mutating func append(text literal: StaticString) { literal.withUTF8Buffer { append(contentsOf: $0) } }

  private mutating func append(quotedOrNull bytes: some Collection<UInt8>) {
    if bytes.isEmpty { append(text: "null") } else { append(quoted: bytes) }
  }

  /// Appends a JSON string. Bytes beyond ASCII are written as the characters of Latin-1, so that the text is valid whatever a
  /// client sent.
  private mutating func append(quoted bytes: some Sequence<UInt8>) {
    append(0x22)
    for byte in bytes {
      switch byte {
      case 0x22, 0x5c: append(contentsOf: [0x5c, byte])
      case 0x20..<0x7f: append(byte)
      default:
        append(text: "\\u00")
        append(.hexDigit(byte >> 4))
        append(.hexDigit(byte & 15))
      }
    }
    append(0x22)
  }
}
