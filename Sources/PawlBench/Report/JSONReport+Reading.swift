import Histogram
import PawlBase

extension JSONReport {
  /// Parses the format that ``text(_:)`` writes, and nothing else.
  /// - Throws: ``ReportError/malformed(path:line:column:reason:)`` at the first difference.
  package static func parse(_ bytes: [UInt8], path: String) throws(ReportError) -> RunResult {
    do throws(JSONFault) {
      var object = try JSONObject(JSONParser.parse(bytes), "")
      let result = try result(&object)
      try object.end()
      return result
    } catch {
      let before = bytes.prefix(error.place)
      let line = before.count { $0 == 0x0a } + 1
      let column = before.count - (before.lastIndex(of: 0x0a).map { $0 + 1 } ?? 0) + 1
      throw .malformed(path: path, line: line, column: column, reason: error.reason)
    }
  }

  private static func result(_ object: inout JSONObject) throws(JSONFault) -> RunResult {
    let schema = try object.take("schema")
    guard schema.content == .string(Self.schema) else {
      throw JSONFault(place: schema.place, reason: "not a result of pawl-bench")
    }
    let version = try object.take("version")
    guard try JSONObject.whole(version, "version") == Self.version else {
      throw JSONFault(place: version.place, reason: "only version \(Self.version) is known")
    }
    var result = RunResult(
      scenario: try object.string("scenario"), label: try object.string("label"), url: try object.string("url"),
      startedAt: try object.signed("startedAt"))
    result.seconds = try object.number("seconds")
    result.settings = try object.objects("settings") { setting throws(JSONFault) in
      (name: try setting.string("name"), value: try setting.string("value"))
    }
    result.counts = try counts(&object)
    _ = try object.object("summary")
    result.latency = try histogram("latency", &object)
    result.firstByte = try histogram("firstByte", &object)
    result.process = try object.optional("process", process)
    result.extras = try object.objects("extras") { extra throws(JSONFault) in
      RunResult.Extra(try extra.string("name"), try extra.number("value"), try extra.string("unit"))
    }
    result.samples = try object.objects("samples", sample)
    return result
  }

  private static func counts(_ object: inout JSONObject) throws(JSONFault) -> RunResult.Counts {
    var members = try object.object("counts")
    var counts = RunResult.Counts()
    counts.requests = try members.whole("requests")
    counts.completed = try members.whole("completed")
    var failures = try members.object("failures")
    counts.failures = try failures.takeCounts()
    counts.connections = try members.whole("connections")
    counts.received = try members.whole("received")
    counts.sent = try members.whole("sent")
    counts.interruptions = try members.whole("interruptions")
    counts.verified = try members.whole("verified")
    try members.end()
    return counts
  }

  private static func process(_ object: inout JSONObject) throws(JSONFault) -> RunResult.ProcessUse {
    var members = try object.object("process")
    let use = RunResult.ProcessUse(
      processes: Int(clamping: try members.whole("processes")), user: try members.number("user"),
      system: try members.number("system"), before: try members.whole("memoryBefore"),
      peak: try members.whole("memoryPeak"), after: try members.whole("memoryAfter"))
    try members.end()
    return use
  }

  private static func sample(_ object: inout JSONObject) throws(JSONFault) -> RunResult.Sample {
    var sample = RunResult.Sample(
      time: try object.number("time"), completed: try object.whole("completed"), failed: try object.whole("failed"),
      bytes: try object.whole("bytes"))
    sample.median = try object.whole("median")
    sample.p99 = try object.whole("p99")
    sample.slowest = try object.whole("slowest")
    sample.cpu = try object.optional("cpu") { object throws(JSONFault) in try object.number("cpu") }
    sample.memory = try object.optional("memory") { object throws(JSONFault) in try object.whole("memory") }
    return sample
  }

  private static func histogram(_ name: String, _ object: inout JSONObject) throws(JSONFault) -> Histogram<UInt32> {
    var members = try object.object(name)
    let unit = try members.take("unit")
    guard unit.content == .string("us") else {
      throw JSONFault(place: unit.place, reason: "\(name).unit must be \"us\"")
    }
    let total = try members.take("count")
    // These figures are ignored: they are computed again from the values.
    for known in ["mean", "p50", "p75", "p90", "p99", "p999", "p9999", "max"] { _ = try members.take(known) }
    var histogram = RunResult.emptyHistogram()
    var last: UInt64?
    for (index, pair) in try members.array("values").enumerated() {
      let path = "\(name).values[\(index)]"
      guard case .array(let numbers) = pair.content, numbers.count == 2 else {
        throw JSONFault(place: pair.place, reason: "\(path) must be a value and its count")
      }
      let value = try JSONObject.whole(numbers[0], path)
      guard let count = UInt32(exactly: try JSONObject.whole(numbers[1], path)), count > 0 else {
        throw JSONFault(place: numbers[1].place, reason: "\(path) has a count that is not from 1 to \(UInt32.max)")
      }
      guard value <= histogram.highestTrackableValue else {
        throw JSONFault(place: numbers[0].place, reason: "\(path) is more than an hour")
      }
      // Values must increase, and each slot of the histogram has one count only: the sum of two counts could overflow.
      guard last.map({ $0 < value && !histogram.valuesAreEquivalent($0, value) }) ?? true else {
        throw JSONFault(place: numbers[0].place, reason: "\(path) does not lie above the value before it")
      }
      histogram.record(value, count: count)
      last = value
    }
    guard try JSONObject.whole(total, "\(name).count") == histogram.totalCount else {
      throw JSONFault(place: total.place, reason: "\(name).count is not the sum of the counts")
    }
    try members.end()
    return histogram
  }
}
