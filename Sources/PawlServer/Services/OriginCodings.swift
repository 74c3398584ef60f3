import PawlLoop

/// What is known of which answers an origin compresses itself, where the request takes that. Only so nothing arrives larger than it would
/// without pawl, which asks for content that is not compressed; and pages of users are compressed only where their application does it
/// (BREACH). Each lesson holds for an hour.
struct OriginCodings {
  static let lifetime = Duration.seconds(3600)
  /// Paths of one ending on one route; of more the oldest are learnt anew.
  static let limit = 1024

  /// Of what is not among the types that the route compresses.
  enum Unlisted: Hashable {
    /// There is such: the next answer is to tell.
    case unknown
    case plain
    /// Of this media type, in lower case.
    case compressed([UInt8])
  }

  struct Key: Hashable {
    let route: Int
    /// Of the path, in lower case, with its dot; empty where it has none.
    let ending: [UInt8]

    /// - Parameter route: ``RouteSettings/serial``.
    init(route: Int, target: some Sequence<UInt8>) {
      self.route = route
      var name: [UInt8] = []
      for octet in target {
        if octet == 0x3f { break }
        if octet == 0x2f { name = [] } else { name.append(octet) }
      }
      let dot = name.lastIndex(of: 0x2e)
      ending = dot.map { name[$0...].prefix(16).map { (0x41...0x5a).contains($0) ? $0 + 0x20 : $0 } } ?? []
    }
  }

  private var routes: [Int: (compresses: Bool, at: Monotonic)] = [:]
  private var endings: [Key: (lesson: Unlisted, at: Monotonic)] = [:]

  /// Whether the origin compresses what the route does, too; `nil`: not known.
  func compresses(on route: Int, at now: Monotonic) -> Bool? {
    guard let lesson = routes[route], now - lesson.at < Self.lifetime else { return nil }
    return lesson.compresses
  }

  func unlisted(_ key: Key, at now: Monotonic) -> Unlisted? {
    guard let entry = endings[key], now - entry.at < Self.lifetime else { return nil }
    return entry.lesson
  }

  mutating func note(_ compresses: Bool, on route: Int, at now: Monotonic) {
    if routes.count >= Self.limit { routes = routes.filter { now - $0.value.at < Self.lifetime } }
    guard routes.count < Self.limit || routes[route] != nil else { return }
    routes[route] = (compresses, now)
  }

  mutating func note(_ lesson: Unlisted, of key: Key, at now: Monotonic) {
    if endings.count >= Self.limit, endings[key] == nil {
      let oldest = endings.min { $0.value.at < $1.value.at }?.key
      if let oldest { endings[oldest] = nil }
    }
    endings[key] = (lesson, now)
  }
}
