import PawlCache
import PawlCacheStore
import PawlHTTP

extension DownloadExchange {
  /// Decides of which coding the range is that the request asks for, before anything is looked for or asked of the origin:
  /// what comes later says nothing of what the client holds.
  func decideRangeCoding(_ state: ResourceState) {
    let fields = request.head.fields
    guard request.head.method == .get, fields.contains(.range) else { return }
    let held = HeldPart(fields)
    guard held.condition != .none else { return }
    // Others say nothing of what this client may hold.
    let own = state.variants.allSelected(by: { values($0, asksIdentity: false) }, where: held.names)
    let identity = state.variants.allSelected(by: { values($0, asksIdentity: true) }, where: held.names)
    let others = identity.filter { stored in !own.contains { $0 === stored } }
    let named = (own + others + state.superseded.filter(held.names)).map { stored in
      RangeCoding.NamedBody(
        coding: stored.head.coding, isOwn: selects(stored, asksIdentity: false),
        isIdentity: selects(stored, asksIdentity: true))
    }
    guard request.route.asksIdentity else {
      request.rangeCoding = .decide(
        held.condition, acceptsCodings: RangeCoding.acceptsCodings(fields), named: named)
      return
    }
    // Before the route came to ask for identity, it was given what its own Accept-Encoding chose.
    let wasCoded = named.contains { $0.coding != nil && $0.isOwn && !$0.isIdentity }
    request.rangeCoding = wasCoded || mayHoldForm(held, state) ? .unknown : .identity
  }

  func noteWhatIsHeld() {
    request.namesByDateAlone =
      request.route.asksIdentity && HeldPart(request.head.fields).condition == .date
      && request.head.fields.contains(.range) && RangeCoding.acceptsCodings(request.head.fields)
  }

  /// Whether the client may hold a part of what pawl has compressed for it, for which a date is no name.
  private func mayHoldForm(_ held: HeldPart, _ state: ResourceState) -> Bool {
    guard held.condition == .date, AnswerCoding.accepted(by: request) != nil else { return false }
    return state.responses.contains { stored in
      let head = ResponseHead(status: stored.head.status, fields: stored.head.fields)
      return AnswerCoding.depends(head, length: stored.body.total, on: request)
    }
  }

  /// As if the origin were asked for identity, or for what the client accepts.
  private func selects(_ stored: StoredResponse, asksIdentity: Bool) -> Bool {
    stored.head.isSelected(by: request.head, asksIdentity: asksIdentity) { withOwnEncoding }
  }

  private func values(_ selector: VariantSelector, asksIdentity: Bool) -> [UInt8] {
    selector.values(of: request.head, asksIdentity: asksIdentity) { withOwnEncoding }
  }

  private var withOwnEncoding: Fields {
    var sent = request.asSent.fields
    sent.removeAll(.acceptEncoding)
    for value in request.head.fields.all(.acceptEncoding) { sent.append(.acceptEncoding, value) }
    return sent
  }
}

/// What the conditions of a request with `Range` say of the bytes that its client holds.
struct HeldPart {
  static let fields = FieldNameSet([.ifRange, .ifMatch, .ifUnmodifiedSince])

  let condition: RangeCoding.Condition
  private let tags: [EntityTag]
  private let date: Int64?

  init(_ fields: Fields) {
    var tags: [EntityTag] = []
    var date: Int64?
    switch IfRange(fields) {
    case .tag(let tag)?: tags.append(tag)
    case .date(let modified)?: date = modified
    case .unusable?, nil: break
    }
    if case .tags(let list)? = EntityTagList(fields.all(.ifMatch)) { tags += list }
    if let limit = fields.only(.ifUnmodifiedSince) { date = date ?? HTTPDate.parse(limit) }
    tags.removeAll(where: \.isWeak)
    (self.tags, self.date) = (tags, date)
    condition =
      tags.isEmpty ? (date == nil ? .none : .date) : tags.allSatisfy(AnswerTags.isMinted) ? .minted : .tag
  }

  /// Whether a body is one that the client may hold a part of. By the origin's tag it is, even where pawl shows another.
  func names(_ stored: StoredResponse) -> Bool {
    guard condition != .date else { return stored.head.status == 200 }
    return tags.contains { tag in
      stored.body.tagLimit(tag.opaque) != nil || stored.head.validators.tag?.matchesStrongly(tag) ?? false
    }
  }
}
