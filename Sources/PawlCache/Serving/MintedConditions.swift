package import PawlHTTP

/// Translates the conditions of a request so that the origin can evaluate them. The origin does not know the tags that pawl made,
/// so each such tag is replaced by the validator stored with its body. The translated condition of an unsafe request never permits
/// what the original condition forbids.
package enum MintedConditions {
  /// The validators stored with the body that a tag names.
  package struct Known: Hashable, Sendable {
    /// The origin's tag, strong or weak.
    package var tag: EntityTag?
    /// `Last-Modified`, as the origin wrote it.
    package var modified: [UInt8]?

    package init(tag: EntityTag?, modified: [UInt8]? = nil) { (self.tag, self.modified) = (tag, modified) }

    /// The validators of a stored response.
    package init(_ head: StoredHead) {
      tag = head.validators.tag
      modified = head.validators.lastModified == nil ? nil : head.fields.only(.lastModified).map { Array($0.trimmed) }
    }
  }

  private static let names = FieldNameSet([.ifMatch, .ifNoneMatch])

  /// Whether a request has one of pawl's own tags in `If-Match` or `If-None-Match`.
  package static func areThere(in fields: Fields) -> Bool {
    guard fields.mayContain(anyOf: names) else { return false }
    return [FieldName.ifMatch, .ifNoneMatch].contains { name in tags(name, fields).contains(where: isMinted) }
  }

  /// Returns the fields with which an unsafe request is sent to the origin. `nil`: the condition is false or cannot be evaluated,
  /// and the answer is 412 (RFC 9110 §13.1.1, §13.1.2).
  /// - Parameter known: the validators stored with the body of one of pawl's own tags; `nil` when there is no such body.
  package static func ofUnsafe(_ fields: Fields, known: (EntityTag) -> Known?) -> Fields? {
    var fields = fields
    let match = tags(.ifMatch, fields)
    if match.contains(where: isMinted) {
      // One matching tag is enough, so a tag without a strong validator is left out.
      let said = match.compactMap { tag in
        isMinted(tag) ? known(tag)?.tag.flatMap { $0.isWeak ? nil : $0 } : tag
      }
      if said.isEmpty { return nil }
      fields.set(.ifMatch, list(said))
    }
    let noneMatch = tags(.ifNoneMatch, fields)
    if noneMatch.contains(where: isMinted) {
      // The condition is true only if no tag matches. A tag without a validator could match, so the condition cannot be
      // evaluated.
      let said = noneMatch.compactMap { isMinted($0) ? known($0)?.tag : $0 }
      if said.count < noneMatch.count { return nil }
      fields.set(.ifNoneMatch, list(said))
    }
    return fields
  }

  /// Returns the fields with which a GET or HEAD is sent to the origin. A tag of pawl is left out if no tag of the origin is
  /// stored with its body. If no tag remains, `If-None-Match` is removed, and the value of `If-Modified-Since` becomes the stored
  /// `Last-Modified` of the first body that has one and is named by the client's tags. Without such a body, `If-Modified-Since`
  /// is removed, too.
  package static func ofRetrieval(_ fields: Fields, known: (EntityTag) -> Known?) -> Fields {
    let asked = tags(.ifNoneMatch, fields)
    guard asked.contains(where: isMinted) else { return fields }
    var fields = fields
    let said = asked.compactMap { isMinted($0) ? known($0)?.tag : $0 }
    if !said.isEmpty {
      fields.set(.ifNoneMatch, list(said))
      return fields
    }
    fields.removeAll(.ifNoneMatch)
    fields.removeAll(.ifModifiedSince)
    if let date = asked.compactMap({ known($0)?.modified }).first { fields.set(.ifModifiedSince, date) }
    return fields
  }

  private static func isMinted(_ tag: EntityTag) -> Bool { TagRecord.isOwn(tag.opaque) }

  private static func tags(_ name: FieldName, _ fields: Fields) -> [EntityTag] {
    guard case .tags(let tags)? = EntityTagList(fields.all(name)) else { return [] }
    return tags
  }

  private static func list(_ tags: [EntityTag]) -> [UInt8] { Array(tags.map(\.bytes).joined(separator: [0x2c, 0x20])) }
}

extension StoredHead {
  /// Whether a response to HEAD has the strong tag of this stored response, but another length.
  package func isContradicted(by answer: ResponseHead, total: UInt64?) -> Bool {
    guard status == 200, answer.status == 200, let total, let tag = validators.tag,
      let said = answer.fields.only(.etag).flatMap({ EntityTag($0) }), said.matchesStrongly(tag),
      let length = answer.fields.only(.contentLength)?.strictDecimal
    else { return false }
    return length != total
  }

  /// Whether a response to HEAD, or a 304, is about this representation, judged by the validators and the length in that
  /// response. A response without a validator confirms nothing.
  package func isAgreed(by answer: ResponseHead, total: UInt64?) -> Bool {
    guard status == 200 else { return false }
    let said = Validators(answer.fields, receivedAt: responseTime)
    if answer.status == 200, let length = answer.fields.only(.contentLength)?.strictDecimal, let total, length != total
    {
      return false
    }
    if let tag = said.tag { return validators.tag?.matchesWeakly(tag) ?? false }
    guard validators.tag == nil, let modified = said.lastModified else { return false }
    return modified == validators.lastModified
  }
}
