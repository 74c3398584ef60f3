import PawlBase
import Testing

@testable import PawlObserve

@Suite("Access log") struct AccessLogTests {
  @Test("is nothing when it is off")
  func off() throws {
    let log = try AccessLog(destination: .off, format: .json)
    #expect(!log.isEnabled)
    log.write(AccessRecords.record())
    log.reopen()
    log.flush()
    #expect(log.takeDropped() == 0)
  }

  @Test("of so many hits writes one, and every error, abort and slow request")
  func sample() throws {
    let received = Locked<[UInt8]>([])
    let log = try AccessLog(
      destination: .closure { bytes in received.withLock { $0 += bytes } }, format: .combined, sample: 10)
    func write(_ change: (inout AccessRecord) -> Void) {
      var record = AccessRecords.record()
      record.cacheOutcome = "hit"
      change(&record)
      log.write(record)
    }
    for number in 0..<100 { write { $0.target = AccessRecords.bytes("/hit/\(number)") } }
    write {
      $0.target = AccessRecords.bytes("/slow"); $0.durationMicros = 1_000_000
    }
    write {
      $0.target = AccessRecords.bytes("/quick"); $0.durationMicros = 999_999
    }
    write {
      $0.target = AccessRecords.bytes("/abort"); $0.endedBy = .client
    }
    write {
      $0.target = AccessRecords.bytes("/error"); $0.status = 404
    }
    write {
      $0.target = AccessRecords.bytes("/miss"); $0.cacheOutcome = "miss"
    }
    log.flush()
    let targets = String(decoding: received.withLock { $0 }, as: UTF8.self).split(separator: "\n").map { line in
      line.split(separator: " ")[6]
    }
    #expect(
      targets == (0..<10).map { "/hit/\($0 * 10)" } + ["/slow", "/quick", "/abort", "/error", "/miss"])
  }
}
