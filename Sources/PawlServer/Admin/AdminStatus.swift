import CLinux
import PawlBase
import PawlCacheStore
import PawlLoop
import PawlUploadStore
import PawlUpstream

/// `/v1/status`, `/v1/cache`: what the server is and what it has.
struct AdminStatus {
  let picture: ServerPicture
  let now: Monotonic
  /// Seconds since 1970.
  let wall: Int64

  var reply: AdminReply {
    AdminReply.object { json in
      json.member("version", PawlVersion.text)
      json.member("pid", Int(getpid()))
      json.member("started", picture.startedAt)
      json.member("uptime", max(0, wall - picture.startedAt))
      AdminHealth(picture, now: now, wall: wall).write(to: &json, isFull: true)
      json.member("still_draining", array: { array in for pid in picture.stillDraining { array.value(Int(pid)) } })
      json.member("configuration", object: writeConfiguration)
      json.member("loops", picture.loopCount)
      json.member(
        "connections",
        object: {
          $0.member("open", picture.openConnections)
          $0.member("max", picture.maxConnections)
        })
      json.member("listeners", picture.urls)
      json.member("upstreams", array: { array in for origin in picture.origins { write(origin, to: &array) } })
      json.member("caches", array: { array in for cache in picture.caches { Self.write(cache, to: &array) } })
      json.member("spools", array: { array in for spool in picture.spools { Self.write(spool, to: &array) } })
    }
  }

  private func writeConfiguration(_ json: inout JSONWriter) {
    json.member("generation", picture.generation)
    json.member("file", picture.configuration.file)
    guard let last = picture.lastReload else { return json.member("last_reload", nil as String?) }
    json.member(
      "last_reload",
      object: {
        $0.member("at", last.at)
        last.outcome.write(to: &$0)
      })
  }

  private func write(_ origin: ServerPicture.Origin, to array: inout JSONWriter) {
    array.object { json in
      json.member("name", origin.section.name)
      json.member("connections", origin.upstream.connectionCount)
      json.member("max_connections", origin.section.maxConnections)
      json.member("waiting", origin.upstream.waitingCount)
      json.member("live", origin.upstream.liveCount)
      json.member(
        "nodes",
        array: { array in
          for (node, state) in zip(origin.section.nodes, origin.upstream.nodeStates(at: now)) {
            array.object {
              $0.member("url", "\(node.url)")
              $0.member("state", state.rawValue)
              $0.member("weight", node.weight)
              $0.member("backup", node.isBackup)
            }
          }
        })
    }
  }

  // MARK: - Disks

  static func caches(_ picture: ServerPicture) -> AdminReply {
    AdminReply.object { json in
      json.member("caches", array: { array in for cache in picture.caches { write(cache, to: &array) } })
    }
  }

  private static func write(_ cache: (name: String, store: CacheStore), to array: inout JSONWriter) {
    let (store, statistics) = (cache.store, cache.store.statistics)
    array.object { json in
      json.member("name", cache.name)
      json.member("path", store.path)
      json.member("objects", statistics.resources)
      json.member("bytes", statistics.usedBytes)
      json.member("partial_bytes", min(store.partialBytes, statistics.usedBytes))
      json.member("reserved", statistics.reservedBytes)
      json.member("max_size", store.maxSize)
      json.member("min_free", store.minFree)
      json.member("free", store.freeBytes)
      json.member("has_room", store.hasRoom(for: AdminHealth.leastRoom))
      json.member("memory", statistics.memoryBytes)
      json.member("open_files", statistics.openBodies)
      json.member("evictions", statistics.evictions)
      json.member("mended", statistics.mendings)
      json.member("dropped", statistics.drops)
    }
  }

  private static func write(_ spool: OpenSpool, to array: inout JSONWriter) {
    let store = spool.store
    var counts: [String: Int] = [:]
    for upload in store.uploads { counts["\(upload.status.phase)", default: 0] += 1 }
    array.object { json in
      json.member("path", spool.settings.path)
      json.member(
        "uploads", object: { for (phase, count) in counts.sorted(by: { $0.key < $1.key }) { $0.member(phase, count) } })
      json.member("bytes", store.usedBytes)
      json.member("reserved", store.reservedBytes)
      json.member("max_size", store.capacity)
      json.member("min_free", store.minFree)
      json.member("free", store.freeBytes)
      json.member("has_room", store.hasRoom(for: AdminHealth.leastRoom))
    }
  }
}

extension ReloadOutcome {
  /// Writes the members of the outcome into an object.
  func write(to json: inout JSONWriter) {
    json.member("applied", isApplied)
    json.member("mistakes", mistakes)
    json.member("needs_restart", needsRestart)
  }
}
