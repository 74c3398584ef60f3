import PawlDisk
package import PawlHTTP

/// A body that pawl has compressed: the content of another body, the base, in a content coding. A coded form has a tag of its
/// own, and is removed with the base.
package struct CodedForm: Sendable {
  package let coding: ContentCoding
  package let body: StoredBody

  package init(coding: ContentCoding, body: StoredBody) { (self.coding, self.body) = (coding, body) }

  /// The facts about the base that the row of a coded form records.
  struct Origin: Hashable, Sendable {
    let base: ObjectID
    let coding: ContentCoding
    /// The value of ``StoredBody/isSteady``.
    let isSteady: Bool

    init(base: ObjectID, coding: ContentCoding, isSteady: Bool) {
      (self.base, self.coding, self.isSteady) = (base, coding, isSteady)
    }

    /// Reads the bytes that the property ``bytes`` has returned; `nil` if that property cannot have returned them.
    init?(bytes: [UInt8]) {
      guard let last = bytes.last, last <= 1,
        let coding = bytes.dropLast().last.flatMap(ContentCoding.init(rawValue:)),
        let base = ObjectID(bytes: Array(bytes.dropLast(2)))
      else { return nil }
      self.init(base: base, coding: coding, isSteady: last == 1)
    }

    var bytes: [UInt8] { base.bytes + [coding.rawValue, isSteady ? 1 : 0] }
  }
}

/// The coded forms of a body, and the base of a coded form. From any thread.
extension StoredBody {
  /// Whether this body is a coded form. No origin has such a body, so nothing of it is ever requested from an origin.
  package var isForm: Bool { state.withLock { $0.base != nil } }

  package var forms: [CodedForm] { state.withLock { $0.forms } }

  package func form(in coding: ContentCoding) -> StoredBody? {
    state.withLock { state in state.forms.first { $0.coding == coding }?.body }
  }

  /// The form that a strong tag names, and the number of bytes that the tag covers (``tagLimit(_:)``).
  package func form(namedBy opaque: [UInt8]) -> (form: CodedForm, limit: UInt64)? {
    for form in forms {
      if let limit = form.body.tagLimit(opaque) { return (form, limit) }
    }
    return nil
  }

  /// Adds a form, unless there is already a form of that coding or this body is being removed.
  /// - Returns: whether it was added.
  func addForm(_ form: CodedForm) -> Bool {
    // Set before a look-up can find the form.
    form.body.state.withLock { $0.base = WeakStoredBody(body: self) }
    return state.withLock { state in
      guard state.failure == nil, !state.isDoomed, !state.forms.contains(where: { $0.coding == form.coding }) else {
        return false
      }
      state.forms.append(form)
      return true
    }
  }

  func removeForm(_ body: StoredBody) { state.withLock { $0.forms.removeAll { $0.body === body } } }

  /// Takes out all forms, which are removed together with this body.
  func takeForms() -> [CodedForm] {
    state.withLock { state in
      defer { state.forms = [] }
      return state.forms
    }
  }

  /// Removes this form from the forms of its base.
  func leaveBase() { state.withLock({ $0.base?.body })?.removeForm(self) }

  // MARK: Flushes

  /// The offsets in the content at which the encoder was flushed. To make the form again with the same bytes, the encoder has to
  /// be flushed at the same offsets. At most ``flushLimit``, in memory only.
  package var flushes: [UInt64] { state.withLock { $0.flushes } }

  /// Whether the form is made without flushes, from content that was complete. Then making it again yields the same bytes, also
  /// after a restart of the process.
  package var isSteady: Bool { state.withLock { $0.isSteady } }

  package static let flushLimit = 1024

  /// Notes that the encoder was flushed at this offset of the content.
  /// - Returns: `false` if there are already ``flushLimit`` flushes, or the form must have none (``isSteady``).
  package func noteFlush(at offset: UInt64) -> Bool {
    state.withLock { state in
      guard !state.isSteady, state.flushes.count < Self.flushLimit else { return false }
      state.flushes.append(offset)
      return true
    }
  }
}

/// A weak reference to a body.
struct WeakStoredBody: Sendable { weak var body: StoredBody? }
