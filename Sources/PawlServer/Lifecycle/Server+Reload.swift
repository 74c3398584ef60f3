import PawlCertificates
package import PawlConfig
import PawlLoop
import PawlObserve
import PawlTLS

/// Reloads. First everything is made that the new configuration needs and that may fail. Then it is put into use, which cannot
/// fail, and only then what is not needed any more ends. Transfers that run keep their settings.
extension Server {
  /// Applies a new configuration in the running process, and logs the outcome. If something of it cannot be used, nothing changes.
  /// Another reload that runs is waited for. Blocking; never called on a loop.
  @discardableResult
  package func reload(_ new: PawlConfig.Configuration) -> ReloadOutcome {
    let outcome = reloading.withLock { _ in apply(new) }
    outcome.log(to: events)
    services.reloads.note(isApplied: outcome.isApplied, at: services.clock.wallSeconds())
    return outcome
  }

  private func apply(_ new: PawlConfig.Configuration) -> ReloadOutcome {
    guard isDraining.load() == 0 else {
      return ReloadOutcome(isApplied: false, mistakes: ["pawl is ending, and takes no new settings"])
    }
    let refusals = ReloadRefusal.lines(from: configuration, to: new)
    guard refusals.isEmpty else { return ReloadOutcome(isApplied: false, mistakes: refusals) }
    do throws(ServerError) {
      use(new, try prepare(new))
    } catch {
      return ReloadOutcome(isApplied: false, mistakes: [ReloadRefusal.line(for: error, in: new)])
    }
    return ReloadOutcome(isApplied: true, needsRestart: restartKeys.withLock { $0.changed(to: new) })
  }

  /// What a reload has made and does not use yet.
  private struct Prepared {
    var certificates: PreparedCertificates
    var logs: NewLogs
    var listeners: [BoundListener]
    var parts: ServerParts
  }

  private func prepare(_ new: PawlConfig.Configuration) throws(ServerError) -> Prepared {
    let read: PreparedCertificates
    do throws(TLSProblem) { read = try certificates.prepare(new) } catch {
      throw .certificates(error.description, file: error.file)
    }
    let logs: NewLogs
    do throws(LogError) { logs = try openLogs(new.process) } catch { throw .log(error.description) }
    let present = bound.withLock { $0 }
    var listeners: [BoundListener] = []
    do throws(ServerError) {
      listeners = try bind(ListenerPlan(new.listeners, present: present))
      let old = parts.withLock { $0 }
      // The last step, because it also gives stores and upstreams that stay their new settings.
      let made = try ServerParts(new, services, resolver: resolver, old: old)
      return Prepared(certificates: read, logs: logs, listeners: listeners, parts: made)
    } catch {
      logs.discard()
      discard(listeners.filter { made in !present.contains { $0.id == made.id } })
      throw error
    }
  }

  private func use(_ new: PawlConfig.Configuration, _ prepared: Prepared) {
    let made = prepared.parts
    parts.withLock { $0 = made }
    configuration = new
    replaceLogs(prepared.logs)
    admission.change(limit: connectionLimit(new, made), trusted: new.process.trustedProxies)
    certificates.use(prepared.certificates)
    let upstreams = Set(made.upstreams.values.map { ObjectIdentifier($0.upstream) })
    for entry in loops {
      _ = entry.loop.answer { entry.server.get().services.use(made.router, keeping: upstreams) }
    }
    listen(prepared.listeners)
    watchCertificates()
    checkNodes(made)
    beginDeliveries(stores: made.spools.stores, foundSent: made.spools.foundSent)
    reopenLogs()
  }
}
