import PawlCache
import PawlCacheStore
import PawlHTTP

extension DownloadExchange {
  /// Decides in which content coding the bytes of the requested range are counted. This happens before the lookup and before the origin is
  /// asked, because a response that comes later says nothing about the bytes that the client holds.
  func decideRangeCoding(_ state: ResourceState) {
    let fields = request.head.fields
    guard request.head.method == .get, fields.contains(.range) else { return }
    let held = HeldPart(fields)
    guard held.condition != .none else { return }
    // Only bodies that this request selects are examined. Other variants say nothing about the bytes that this client may hold.
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
    // The client may have got its part before the route was set to ask for identity. At that time it got the coding that its own
    // Accept-Encoding selected.
    let wasCoded = named.contains { $0.coding != nil && $0.isOwn && !$0.isIdentity }
    request.rangeCoding = wasCoded || mayHoldForm(held, state) ? .unknown : .identity
  }

  func noteWhatIsHeld() {
    request.namesByDateAlone =
      request.route.asksIdentity && HeldPart(request.head.fields).condition == .date
      && request.head.fields.contains(.range) && RangeCoding.acceptsCodings(request.head.fields)
  }

  /// Whether the client may hold a part of a form that pawl has compressed for it. A date does not distinguish such a form from the
  /// original.
  private func mayHoldForm(_ held: HeldPart, _ state: ResourceState) -> Bool {
    guard held.condition == .date, AnswerCoding.accepted(by: request) != nil else { return false }
    return state.responses.contains { stored in
      let head = ResponseHead(status: stored.head.status, fields: stored.head.fields)
      return AnswerCoding.depends(head, length: stored.body.total, on: request)
    }
  }

  /// Whether the request selects a stored response. `asksIdentity`: if the origin is asked for no coding; otherwise for the codings that
  /// the client accepts.
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

/// The conditions of a request with `Range` that say which bytes the client holds.
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

  /// Whether the client may hold a part of this body. The origin's own strong tag counts too, even where pawl shows another tag.
  func names(_ stored: StoredResponse) -> Bool {
    guard condition != .date else { return stored.head.status == 200 }
    return tags.contains { tag in
      stored.body.tagLimit(tag.opaque) != nil || stored.head.validators.tag?.matchesStrongly(tag) ?? false
    }
  }
}
