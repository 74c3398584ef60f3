import CLinux
import Testing

@testable import PawlObserve

@Suite("Metrics, and their table in Config/metrics.md") struct MetricsSnapshotTests {
  private func everything() -> MetricsSnapshot {
    var snapshot = MetricsSnapshot()
    snapshot.add(loops: [LoopCounters(), LoopCounters()])
    snapshot.add(upstream: "app", loops: [UpstreamCounters()])
    return snapshot
  }

  @Test("sums over loops; what began and has not ended is active")
  func sums() throws {
    let (one, other) = (LoopCounters(), LoopCounters())
    one.add(.downloadsBegan, 5)
    other.add(.downloadsBegan, 2)
    other.add(.downloadsEnded, 3)
    other.add(.fillsEnded, 1)
    one.add(.toClientFromCache, 7)
    other.addHit(bytes: 1, microseconds: 80)
    one.addTurn(microseconds: 9)
    other.add(.forwardUnknown)
    var snapshot = MetricsSnapshot()
    snapshot.add(loops: [one, other])
    func value(_ family: MetricFamily, _ labels: String...) -> MetricsSnapshot.Value? {
      snapshot.samples(of: family).first { $0.labels.map(\.value) == labels }?.value
    }
    #expect(value(.transfersActive, "download") == .count(4) && value(.transfersActive, "fill") == .count(0))
    #expect(value(.bytes, "to_client", "cache") == .count(8) && value(.bytesSaved, "cache") == .count(8))
    #expect(value(.requests, "2xx", "hit") == .count(1) && value(.requests, "5xx", "none") == .count(0))
    #expect(value(.turnLongest, "0") == .microseconds(9) && value(.turnLongest, "1") == .microseconds(0))
    #expect(value(.forwardAttempts, "unknown") == .count(1) && value(.forwardUnknown) == .count(1))
    guard case .histogram(let times)? = value(.requestDuration) else { throw Missing() }
    #expect(times.count == 1 && times.sum == 80)
  }

  private struct Missing: Error {}

  @Test("no two samples of a metric have the same labels, and all have the same names of labels")
  func distinct() {
    let snapshot = everything()
    for family in MetricFamily.allCases {
      let samples = snapshot.samples(of: family)
      #expect(Set(samples.map { $0.labels.map(\.value) }).count == samples.count, "\(family)")
      #expect(Set(samples.map { $0.labels.map { "\($0.name)" } }).count <= 1, "\(family)")
    }
  }

  @Test("names follow the habits: base units, no suffix that the kind adds")
  func names() {
    for family in MetricFamily.allCases {
      let name = family.rawValue
      #expect(
        !["_total", "_info", "_count", "_sum", "_bucket", "_ms", "_us"].contains { name.hasSuffix($0) }, "\(name)")
      if family.kind == .histogram { #expect(name.hasSuffix("_seconds")) }
      #expect("\(family.help)".hasSuffix("."), "\(name)")
    }
    #expect(Set(MetricFamily.allCases.map { "\($0.help)" }).count == MetricFamily.allCases.count)
  }

  @Test("the table names each metric with its kind and its labels, in this order, and no other")
  func table() throws {
    let rows = try Self.lines("Config/metrics.md").filter { $0.hasPrefix("| `p") }.map { line in
      line.split(separator: "|").map { $0.split(separator: " ").joined(separator: " ") }
    }
    #expect(rows.map { $0[0] } == MetricFamily.allCases.map { "`\($0.rawValue)`" })
    let snapshot = everything()
    for (row, family) in zip(rows, MetricFamily.allCases) {
      #expect(row[1] == "\(family.kind)", "\(family)")
      guard let sample = snapshot.samples(of: family).first else { continue }
      #expect(row[2] == sample.labels.map { "`\($0.name)`" }.joined(separator: ", "), "\(family)")
    }
  }

  /// Each value of a label that the code has stands in the row of its metric.
  @Test("the table names each value of a label")
  func values() throws {
    let rows = try Self.lines("Config/metrics.md").filter { $0.hasPrefix("| `p") }
    let snapshot = everything()
    let unnamed: Set<MetricFamily> = [.requests, .originResponses, .turnLongest, .handshakes]
    for (row, family) in zip(rows, MetricFamily.allCases) where !unnamed.contains(family) {
      for sample in snapshot.samples(of: family) {
        for label in sample.labels where "\(label.name)" != "upstream" {
          #expect(row.contains("`\(label.value)`"), "\(family) \(label.value)")
        }
      }
    }
  }

  private static func lines(_ path: String) throws -> [Substring] {
    let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/")
    let descriptor = pawl_open("\(root)/\(path)", O_RDONLY, 0)
    guard descriptor >= 0 else { throw Missing() }
    defer { close(descriptor) }
    var (bytes, room) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
    while true {
      let count = read(descriptor, &room, room.count)
      guard count > 0 else { break }
      bytes += room[..<count]
    }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
  }
}
