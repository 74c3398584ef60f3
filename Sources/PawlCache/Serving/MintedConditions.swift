package import PawlHTTP

/// What the conditions of a request become at an origin that has never heard of pawl's own tags: each tag stands for the validator that
/// is stored with the body it names. A condition never becomes a weaker one.
package enum MintedConditions {
  /// What is stored with the body that a tag names.
  package struct Known: Hashable, Sendable {
    /// The origin's tag, strong or weak.
    package var tag: EntityTag?
    /// `Last-Modified`, as the origin wrote it.
    package var modified: [UInt8]?

    package init(tag: EntityTag?, modified: [UInt8]? = nil) { (self.tag, self.modified) = (tag, modified) }

    /// Of a stored response.
    package init(_ head: StoredHead) {
      tag = head.validators.tag
      modified = head.validators.lastModified == nil ? nil : head.fields.only(.lastModified).map { Array($0.trimmed) }
    }
  }

  private static let names = FieldNameSet([.ifMatch, .ifNoneMatch])

  /// Whether a request names a tag of pawl's own in `If-Match` or `If-None-Match`.
  package static func areThere(in fields: Fields) -> Bool {
    guard fields.mayContain(anyOf: names) else { return false }
    return [FieldName.ifMatch, .ifNoneMatch].contains { name in tags(name, fields).contains(where: isMinted) }
  }

  /// The fields of an unsafe request as the origin gets them; `nil`: the condition is false, or nobody can tell, and the answer is 412
  /// (RFC 9110 §13.1.1, §13.1.2).
  /// - Parameter known: what is stored with the body that one of pawl's own tags names; `nil`: none is.
  package static func ofUnsafe(_ fields: Fields, known: (EntityTag) -> Known?) -> Fields? {
    var fields = fields
    let match = tags(.ifMatch, fields)
    if match.contains(where: isMinted) {
      // Any of them is enough: one that can not be said strongly is left out.
      let said = match.compactMap { tag in
        isMinted(tag) ? known(tag)?.tag.flatMap { $0.isWeak ? nil : $0 } : tag
      }
      if said.isEmpty { return nil }
      fields.set(.ifMatch, list(said))
    }
    let noneMatch = tags(.ifNoneMatch, fields)
    if noneMatch.contains(where: isMinted) {
      // None of them may be it: one that can not be said might be.
      let said = noneMatch.compactMap { isMinted($0) ? known($0)?.tag : $0 }
      if said.count < noneMatch.count { return nil }
      fields.set(.ifNoneMatch, list(said))
    }
    return fields
  }

  /// Those of a GET or HEAD. What nobody knows is left out, and with it a date beside it: it is of a body that is no more.
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
  /// Whether an answer to HEAD, or a 304, is about this very representation, as far as its validators and its length tell; one without
  /// a validator says nothing.
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
