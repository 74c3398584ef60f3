/// Adds up the counts of the workers, and the resources that the server's process has used.
struct Summing {
  private let settings: RunSettings
  private let meter: (any ProcessMeter)?
  private var whole = Tally()
  private var samples: [RunResult.Sample] = []
  private var start: UInt64 = 0
  private var finish: UInt64?
  private var startedAt: Int64 = 0
  private var lastSample: UInt64 = 0
  private var firstReading: ProcessReading?
  private var lastReading: ProcessReading?
  private var peak: UInt64 = 0

  private static let second: UInt64 = 1_000_000_000

  init(_ settings: RunSettings, _ meter: (any ProcessMeter)?) { (self.settings, self.meter) = (settings, meter) }

  /// Reads the resources that the process has used before the load begins.
  mutating func look() {
    firstReading = meter?.read()
    lastReading = firstReading
    peak = firstReading?.memory ?? 0
  }

  mutating func begin(at now: UInt64, wall: Int64) {
    (start, lastSample, startedAt) = (now, now, wall)
    // After a warm-up the process is read again. Without a warm-up (always in `idle`) the cost of opening the connections is
    // measured, too.
    if settings.warmUp > 0 { look() }
  }

  /// The nanoseconds until the next full second of the measurement.
  func nextSecond(after now: UInt64) -> UInt64 { Self.second - (now - start) % Self.second }

  func remaining(of seconds: Double, at now: UInt64) -> UInt64 {
    let end = start + UInt64(seconds * 1e9)
    return end > now ? end - now : 0
  }

  mutating func end(at now: UInt64) { finish = now }

  /// Adds the counts and returns a sample; `nil` if the last interval is too short for a sample.
  mutating func add(_ tally: Tally, at now: UInt64) -> RunResult.Sample? {
    whole.add(tally)
    let reading = meter?.read()
    defer { if let reading { lastReading = reading } }
    if let reading { peak = max(peak, reading.memory) }
    let time = finish ?? now
    guard time - lastSample >= Self.second / 10 || samples.isEmpty else { return nil }
    lastSample = time
    var sample = RunResult.Sample(
      time: Double(time - start) / 1e9, completed: tally.completed, failed: tally.failed,
      bytes: tally.received + tally.sent)
    (sample.median, sample.p99) = (tally.latency.quantile(0.5), tally.latency.quantile(0.99))
    sample.slowest = tally.latency.slowest
    if let reading, let lastReading {
      sample.cpu = max(0, reading.user + reading.system - lastReading.user - lastReading.system)
      sample.memory = reading.memory
    }
    samples.append(sample)
    return sample
  }

  func result() -> RunResult {
    var result = RunResult(
      scenario: settings.scenarioName, label: settings.label, url: settings.target.url, startedAt: startedAt)
    result.settings = settings.told
    result.seconds = Double((finish ?? start) - start) / 1e9
    result.samples = samples
    result.counts.completed = whole.completed
    for (failure, count) in whole.failures { result.counts.failures[failure.description, default: 0] += count }
    result.counts.requests = whole.completed + whole.failed
    (result.counts.connections, result.counts.interruptions) = (whole.connections, whole.interruptions)
    (result.counts.received, result.counts.sent) = (whole.received, whole.sent)
    result.counts.verified = whole.verified
    whole.latency.add(to: &result.latency)
    whole.firstByte.add(to: &result.firstByte)
    result.process = process
    result.extras = extras
    return result
  }

  private var process: RunResult.ProcessUse? {
    guard let firstReading, let lastReading else { return nil }
    return RunResult.ProcessUse(
      processes: lastReading.processes, user: lastReading.user - firstReading.user,
      system: lastReading.system - firstReading.system, before: firstReading.memory, peak: peak,
      after: lastReading.memory)
  }

  private var extras: [RunResult.Extra] {
    var extras = [RunResult.Extra("requests on the wire", Double(whole.exchanges))]
    switch settings.scenario {
    case .resume:
      extras.append(RunResult.Extra("bytes received again", Double(whole.again), "B"))
      extras.append(RunResult.Extra("downloads begun again", Double(whole.restarts)))
    case .upload:
      extras.append(RunResult.Extra("bytes sent again", Double(whole.again), "B"))
      extras.append(RunResult.Extra("uploads begun again", Double(whole.restarts)))
    case .idle: extras += idleExtras
    case .hit, .ranges, .fill: break
    }
    if whole.survived > 0 { extras.append(RunResult.Extra("unplanned breaks survived", Double(whole.survived))) }
    if settings.rate != nil { extras.append(RunResult.Extra("due but not begun", Double(whole.backlog))) }
    return extras
  }
}

extension Summing {
  private var idleExtras: [RunResult.Extra] {
    var extras = [RunResult.Extra("connections the server ended", Double(whole.dropped))]
    guard let firstReading, let lastReading, whole.completed > 0 else { return extras }
    let memory = Double(lastReading.memory) - Double(firstReading.memory)
    extras.append(RunResult.Extra("memory a connection", memory / Double(whole.completed), "B"))
    var (quiet, spent, before) = (0.0, 0.0, 0.0)
    for sample in samples {
      if sample.completed + sample.failed == 0, let cpu = sample.cpu {
        (quiet, spent) = (quiet + sample.time - before, spent + cpu)
      }
      before = sample.time
    }
    if quiet > 0 { extras.append(RunResult.Extra("CPU while idle", spent / quiet * 100, "%")) }
    return extras
  }
}

extension RunSettings {
  /// The settings that affect the measurement.
  var told: [(name: String, value: String)] {
    var told = [("connections", "\(connections)"), ("threads", "\(threads)")]
    if let rate { told.append(("rate", "\(rate)/s")) }
    told.append(("protocol", (isHTTP2 ? "HTTP/2" : "HTTP/1.1") + (target.isSecure ? " over TLS" : "")))
    if isHTTP2 { told.append(("streams", "\(streams)")) }
    switch scenario {
    case .hit, .idle: break
    case .ranges(let size, let parts): told += [("range", "\(size)"), ("parts", "\(parts)")]
    case .fill(_, let readers): told.append(("readers", "\(readers)"))
    case .resume(let interruptions): told.append(("interruptions", "\(interruptions)"))
    case .upload(let plan):
      told += [("dialect", plan.dialect.name), ("size", "\(plan.size)"), ("interruptions", "\(plan.interruptions)")]
    }
    if warmUp > 0 { told.append(("warm-up", "\(warmUp) s")) }
    if !comparesContent { told.append(("content", "not compared")) }
    return told
  }
}

extension UploadPlan.Dialect {
  package var name: String {
    switch self {
    case .plain: "plain"
    case .interop(let version): "rufh-\(version)"
    case .final: "rufh-final"
    case .tus: "tus"
    }
  }
}
