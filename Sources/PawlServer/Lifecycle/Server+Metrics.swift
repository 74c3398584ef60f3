import PawlBase
import PawlCacheStore
import PawlLoop
import PawlObserve
import PawlUpload
import PawlUploadStore
import PawlUpstream

extension Server {
  /// Reads all metrics. Any thread; no loop waits for it.
  func metrics() -> MetricsSnapshot {
    var snapshot = MetricsSnapshot()
    snapshot.add(.build, [("version", PawlVersion.text)], count: 1)
    snapshot.add(loops: services.metrics.loops)
    addUpstreams(to: &snapshot)
    addStores(to: &snapshot)
    addCertificates(to: &snapshot)
    snapshot.add(.connectionsLimit, [], count: admission.settings.limit)
    snapshot.add(.workWaiting, [("pool", "disk")], count: services.workers.waitingCount)
    snapshot.add(.workWaiting, [("pool", "long")], count: services.longWorkers.waitingCount)
    snapshot.add(.logDropped, [("log", "access")], .count(services.lostAccessLines))
    snapshot.add(.logDropped, [("log", "events")], .count(events.droppedCount))
    services.reloads.add(to: &snapshot)
    snapshot.add(ProcessFacts.read())
    return snapshot
  }

  private func addUpstreams(to snapshot: inout MetricsSnapshot) {
    var sent: UInt64 = 0
    for (name, loops) in services.metrics.upstreams {
      snapshot.add(upstream: name, loops: loops)
      sent += loops.reduce(0) { $0 &+ $1.value(.bytesSent) }
    }
    snapshot.add(.bytes, [("direction", "to_origin"), ("source", "client")], .count(sent))
    let now = services.clock.now()
    for (name, entry) in parts.withLock({ $0.upstreams }).sorted(by: { $0.key < $1.key }) {
      let upstream = entry.upstream
      snapshot.add(.originConnections, [("upstream", name)], count: upstream.connectionCount)
      snapshot.add(.originWaiting, [("upstream", name)], count: upstream.waitingCount)
      snapshot.add(.originLive, [("upstream", name)], count: upstream.liveCount)
      for (node, state) in zip(entry.settings.nodes, upstream.nodeStates(at: now)) {
        snapshot.add(.nodeUp, [("upstream", name), ("node", "\(node.url)")], count: state == .works ? 1 : 0)
      }
    }
  }

  private func addCertificates(to snapshot: inout MetricsSnapshot) {
    // Several listeners may show the same certificate.
    let served = Set(certificates.served).map { ($0.section, $0.file, $0.notAfter) }
    for (section, file, notAfter) in served.sorted(by: { ($0.0, $0.1) < ($1.0, $1.1) }) {
      snapshot.add(.certificateExpiry, [("tls", section), ("file", file)], count: Int(clamping: notAfter))
    }
  }

  private func addStores(to snapshot: inout MetricsSnapshot) {
    let (caches, spools) = parts.withLock { ($0.stores, $0.spools.stores) }
    for (name, cache) in caches.sorted(by: { $0.key < $1.key }) {
      let (statistics, label): (StoreStatistics, MetricLabel) = (cache.statistics, ("cache", name))
      let partial = min(cache.partialBytes, statistics.usedBytes)
      snapshot.add(.cacheBytes, [label, ("state", "complete")], .count(statistics.usedBytes - partial))
      snapshot.add(.cacheBytes, [label, ("state", "partial")], .count(partial))
      snapshot.add(.cacheBytes, [label, ("state", "reserved")], .count(statistics.reservedBytes))
      snapshot.add(.cacheLimit, [label], .count(cache.maxSize))
      snapshot.add(.cacheMemory, [label], .count(statistics.memoryBytes))
      snapshot.add(.cacheObjects, [label], count: statistics.resources)
      snapshot.add(.cacheEvictions, [label], .count(statistics.evictions))
      snapshot.add(.cacheMended, [label], .count(statistics.mendings))
      snapshot.add(.cacheDropped, [label], .count(statistics.drops))
      if let free = cache.freeBytes { snapshot.add(.diskFree, [("volume", "cache:\(name)")], .count(free)) }
    }
    var waiting = 0
    for spool in spools {
      var phases: [UploadPhase: Int] = [:]
      for upload in spool.uploads {
        let facts = upload.status
        phases[facts.phase, default: 0] += 1
        if facts.phase == .complete, !facts.isConcatPartial { waiting += 1 }
      }
      let label: MetricLabel = ("spool", spool.name)
      for phase in UploadPhase.allCases where phase != .removed {
        snapshot.add(.uploads, [label, ("state", "\(phase)")], count: phases[phase] ?? 0)
      }
      snapshot.add(.spoolBytes, [label, ("state", "stored")], .count(spool.usedBytes))
      snapshot.add(.spoolBytes, [label, ("state", "reserved")], .count(spool.reservedBytes))
      snapshot.add(.spoolLimit, [label], .count(spool.capacity))
      if let free = spool.freeBytes { snapshot.add(.diskFree, [("volume", "spool:\(spool.name)")], .count(free)) }
    }
    if !spools.isEmpty { snapshot.add(.deliveriesWaiting, [], count: waiting) }
  }

  /// The loops whose transfers can be listed.
  var transferSources: [TransferSource] {
    loops.map { entry in
      TransferSource(loop: entry.loop) { query, take in
        let server = entry.server.get()
        TransferCollector(query, server.connections, server.uploads, take: take).start()
      }
    }
  }
}
