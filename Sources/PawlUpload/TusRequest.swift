package import PawlHTTP

/// What a request says in tus 1.0.0.
package enum TusRequest {
  package static func isSpoken(_ head: RequestHead) -> Bool { head.fields.contains(.tusResumable) }

  package static func effectiveMethod(_ head: RequestHead) -> Method { head.method }

  package static func creation(_ head: RequestHead) throws(UploadRefusal) -> UploadCreation { UploadCreation() }

  package static func command(_ head: RequestHead) throws(UploadRefusal) -> UploadCommand { .inspect }
}
