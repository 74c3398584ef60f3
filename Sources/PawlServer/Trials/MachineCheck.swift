import CLinux
package import PawlConfig
import PawlDisk
package import PawlLoop
import PawlObserve

/// Tries on this machine what `serve` would do with a configuration, for `pawl check`: directories, files, addresses, names. It
/// changes nothing and leaves no file behind. Blocking; asks the name service.
package struct MachineCheck {
  package private(set) var issues: [Issue] = []
  /// One line for each store that a running pawl has open.
  package private(set) var lines: [String] = []
  private let configuration: Configuration
  private let user: FileUser
  /// Whether a process has a store of this configuration open: a running pawl.
  private var isRunning = false

  /// - Parameters:
  ///   - user: the user that pawl runs as.
  ///   - descriptors: how many files the process may have open at most.
  package init(
    _ configuration: Configuration, user: FileUser? = nil, descriptors: UInt64 = DescriptorLimit.most,
    lookUp: @escaping Resolver.LookUp = Resolver.askSystem
  ) {
    self.configuration = configuration
    self.user = user ?? FileUser(becoming: configuration.process)
    checkAccount()
    checkStores()
    checkLogs()
    checkAddresses()
    checkKeys()
    checkDescriptors(descriptors)
    checkNames(lookUp)
  }

  package var hasErrors: Bool { issues.contains { $0.severity == .error } }

  /// - Parameters:
  ///   - label: the section's label, such as `cache:media`.
  ///   - value: the text of one element, if the key is a list.
  private mutating func report(
    _ label: String, _ key: String, _ value: String? = nil, severity: Issue.Severity = .error, why message: String
  ) {
    let place = configuration.place(of: key, value, in: label)
    issues.append(Issue(severity, at: place, section: label, key: key, configuration.hidingSecrets(message)))
  }

  /// A user and a group that do not exist; and that only root can become another user.
  private mutating func checkAccount() {
    let process = configuration.process
    guard process.user != nil || process.group != nil else { return }
    let key = process.user == nil ? "group" : "user"
    do throws(Account.Failure) {
      let account = try Account(user: process.user, group: process.group)
      if !account.isCurrent, geteuid() != 0 {
        // The service manager may start pawl as root, or as that user.
        report("pawl", key, severity: .warning, why: "\(Account.Failure.notRoot(account.name)); checked for this user")
      }
    } catch {
      if case .noGroup = error { return report("pawl", "group", why: error.description) }
      report("pawl", key, why: error.description)
    }
  }

  // MARK: Directories

  private mutating func checkStores() {
    let state = configuration.process.stateDirectory
    if !Files.exists(state) {
      if let problem = problem(ofMissing: state) { report("pawl", "state-dir", why: problem) }
    } else if let problem = judged({ FileTrial.problem(ofStateDirectory: state) }) {
      // The stores in it have directories of their own, which are judged below.
      report("pawl", "state-dir", severity: StoreRoom.isDirectory(state) ? .warning : .error, why: problem)
    }
    for cache in configuration.caches {
      let label = "cache:\(cache.name)"
      checkStore(label, cache.path)
      if let lacks = StoreRoom.lacks(cache) { report(label, "min-free", severity: .warning, why: lacks) }
    }
    for spool in configuration.spools {
      let label = "spool:\(spool.name)"
      checkStore(label, spool.path)
      if let lacks = StoreRoom.lacks(spool) { report(label, "path", severity: .warning, why: lacks) }
      if let forgets = StoreRoom.forgets(spool) { report(label, "path", severity: .warning, why: forgets) }
    }
    if let clash = StorePlaces.clash(in: configuration) {
      report(clash.label, "path", why: "cannot use \(clash.path): \(clash.why)")
    }
  }

  private mutating func checkStore(_ label: String, _ path: String) {
    if FileTrial.isInUse(path) {
      if let holder = FileTrial.holder(of: path), let other = RunningPawl.stranger(holder, configuration) {
        report(label, "path", why: "cannot use \(path): \(path) is used by another process: \(other)")
      } else {
        isRunning = true
        lines.append("[\(label)] \(path): in use by a running pawl")
      }
    }
    let found = Files.exists(path) ? judged { FileTrial.problem(ofDirectory: path) } : problem(ofMissing: path)
    guard let problem = found else { return }
    // Directories below one that cannot be made have the same problem; it is said once.
    if !issues.contains(where: { $0.message == problem && $0.severity == .error }) {
      report(label, "path", why: problem)
    }
  }

  /// Returns why a directory that is not there could not be made and used; `nil`: it can. Root makes it before it becomes another user,
  /// and gives it to that one.
  private func problem(ofMissing path: String) -> String? {
    FileTrial.problem(ofDirectory: path)
      ?? (user.isOwn ? nil : judged { FileTrial.problem(ofReaching: path) })
  }

  /// Runs `body` as the user that pawl runs as, and names that user in the problem where it is not the one of this process.
  private func judged(_ body: () -> String?) -> String? {
    user.act(body).map { user.isOwn ? $0 : "\($0) (for \(user.name))" }
  }

  private mutating func checkLogs() {
    for (key, target) in [("log", configuration.process.log), ("access-log", configuration.process.accessLog)] {
      if let problem = problem(of: target) { report("pawl", key, why: "cannot open the log \(problem)") }
    }
  }

  private func problem(of target: ProcessSettings.LogTarget) -> String? {
    switch target {
    case .standardError, .standardOutput, .off: nil
    case .file(let path):
      LogFiles.canBeGiven(path, to: user)
        ? nil : judged { FileTrial.problem(ofAppending: path) }.map { "\(path): \($0)" }
    case .syslog(let path): socketProblem(path ?? LogDestination.syslogPath, isJournal: false)
    case .journal(let path): socketProblem(path ?? LogDestination.journalPath, isJournal: true)
    }
  }

  private func socketProblem(_ path: String, isJournal: Bool) -> String? {
    judged { LogDestination.problem(ofSocket: path, isJournal: isJournal) }.map { "\(path): \($0)" }
  }

  // MARK: Addresses

  private mutating func checkAddresses() {
    for listener in configuration.listeners {
      for address in listener.addresses { checkAddress("listen:\(listener.name)", "address", address) }
    }
    let usual = AdminSettings(stateDirectory: configuration.process.stateDirectory).listen
    // The default one is made in a directory that was judged already, and that may have to be made itself.
    for address in configuration.admin.listen where !usual.contains(address) {
      checkAddress("admin", "listen", address)
    }
  }

  private mutating func checkAddress(_ label: String, _ key: String, _ address: ListenAddress) {
    if case .inherited(let name) = address { return checkInherited(label, key, address, name) }
    guard let parsed = SocketAddress.parse(address.description) else { return }
    if case .unix(let path) = address, let problem = FileTrial.problem(ofSocket: path) {
      report(label, key, "\(address)", why: "\(address): \(problem)")
    } else if let failure = ListenTrial.failure(parsed) {
      report(failure, of: parsed, label, key, address)
    }
  }

  /// The service manager passes the socket to the service, and not to this command: what is missing here may be there.
  private mutating func checkInherited(_ label: String, _ key: String, _ address: ListenAddress, _ name: String) {
    let passed = getenv("LISTEN_FDNAMES").map { String(cString: $0).split(separator: ":").contains { $0 == name } }
    guard passed != true, !isRunning else { return }
    report(
      label, key, "\(address)", severity: .warning,
      why:
        "\(address): no socket of this name was passed to pawl (FileDescriptorName= of the socket unit): serve works as that service only"
    )
  }

  private mutating func report(
    _ failure: LoopError, of parsed: SocketAddress, _ label: String, _ key: String, _ address: ListenAddress
  ) {
    guard case .addressInUse = failure else { return report(label, key, "\(address)", why: "\(failure)") }
    if isRunning {
      return lines.append("[\(label)] \(address): in use, by the running pawl as far as can be seen")
    }
    guard let holder = SocketHolder.find(parsed) else {
      let why = "\(failure): by another program, or a pawl with other directories"
      return report(label, key, "\(address)", why: why)
    }
    if holder.isServiceManager {
      return lines.append("[\(label)] \(address): in use by systemd, which hands it to the service of its socket unit")
    }
    report(label, key, "\(address)", why: "\(failure): by process \(holder.process) (\(holder.name))")
  }

  // MARK: Keys

  private mutating func checkKeys() {
    for section in configuration.tls {
      for file in section.keyFiles { checkKey("tls:\(section.name)", "key", file) }
      for file in section.certificateFiles { checkReading("tls:\(section.name)", "certificate", file) }
    }
    for section in configuration.upstreams {
      if let file = section.tlsKey { checkKey("upstream:\(section.name)", "tls-key", file) }
    }
  }

  private mutating func checkKey(_ label: String, _ key: String, _ file: String) {
    checkReading(label, key, file)
    if FileTrial.isOpenToAll(file) {
      report(
        label, key, file, severity: .warning,
        why: "\(file): every user of this machine can read it; chmod o-r mends that")
    }
  }

  /// Whether the user that pawl runs as can read a file. For the user of this process, reading the files has told already.
  private mutating func checkReading(_ label: String, _ key: String, _ file: String) {
    guard !user.isOwn, FileTrial.problem(ofReading: file) == nil else { return }
    if let problem = judged({ FileTrial.problem(ofReading: file) }) {
      report(label, key, file, why: "\(file): cannot be read: \(problem)")
    }
  }

  // MARK: Limits and names

  private mutating func checkDescriptors(_ most: UInt64) {
    guard let wanted = configuration.process.maxConnections, UInt64(wanted) > most else { return }
    report(
      "pawl", "max-connections", severity: .warning,
      why: "\(wanted) is more than the \(most) files that may be open here; LimitNOFILE or ulimit -n raises that")
  }

  private mutating func checkNames(_ lookUp: @escaping Resolver.LookUp) {
    let nodes = configuration.upstreams.flatMap { section in
      section.nodes.filter { $0.url.socketPath == nil }.map { (label: "upstream:\(section.name)", node: $0) }
    }
    do throws(LoopError) {
      let answers = try NameTrial.answers(to: Set(nodes.map(\.node.url.host)).sorted(), lookUp: lookUp)
      for (label, node) in nodes {
        switch answers[node.url.host] {
        case .failure(let error)?:
          let why = "\(node.url.host) does not resolve now: \(error)"
          report(label, "url", "\(node)", severity: .warning, why: why)
        case .success(let addresses)?: checkCircle(label, node, addresses)
        case nil: break
        }
      }
    } catch { lines.append("names were not resolved: \(error)") }
  }

  /// Warns of a name whose address is one that pawl listens on. Circles that need no name service are errors of the file.
  private mutating func checkCircle(_ label: String, _ node: OriginNode, _ addresses: [SocketAddress]) {
    guard node.url.host != "localhost", SocketAddress.literal(node.url.host, port: 0) == nil else { return }
    let own = configuration.listeners.first { listener in
      listener.addresses.contains { address in addresses.contains { takes(address, $0.withPort(node.url.port)) } }
    }
    guard let own, let first = addresses.first else { return }
    let why = "\(node.url) is \(first.hostText), pawl's own [listen:\(own.name)]: requests would go round in a circle"
    report(label, "url", "\(node)", severity: .warning, why: why)
  }

  /// Whether connections to `asked` come to the listener's address.
  private func takes(_ address: ListenAddress, _ asked: SocketAddress) -> Bool {
    guard case .internet = address, let bound = SocketAddress.parse(address.description), bound.port == asked.port,
      bound.isIPv6 == asked.isIPv6
    else { return false }
    if bound == asked { return true }
    return ["0.0.0.0", "::"].contains(bound.hostText) && ListenTrial.isOfThisMachine(asked)
  }
}
