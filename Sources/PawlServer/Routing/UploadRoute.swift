import PawlConfig
import PawlUpload
import PawlUploadStore

/// What a route that takes uploads does with them (`uploads = on`).
final class UploadRoute: Sendable {
  let store: UploadStore
  /// Of the spool; temporary files live there too.
  let directory: String
  /// Where this site's upload URLs live; begins and ends with `/`.
  let prefix: [UInt8]
  let dispatch: DispatchPolicy
  let settings: UploadSettings
  let cors: CORSPolicy
  let delivery: DeliveryPolicy.Delivery

  /// - Parameter prefix: `nil`: as the settings say.
  init(_ settings: SiteSettings, store: UploadStore, directory: String, prefix: [UInt8]? = nil) {
    (self.settings, self.store, self.directory) = (settings.upload, store, directory)
    self.prefix = prefix ?? Array(settings.uploadPrefix.utf8)
    dispatch = DispatchPolicy(
      uploadPrefix: self.prefix, minResumable: settings.upload.minResumable, allowsFinal: settings.upload.finalDialect)
    cors = CORSPolicy(settings.upload.cors)
    delivery = settings.upload.delivery == .atLeastOnce ? .atLeastOnce : .atMostOnce
  }

  /// Bytes of the largest upload taken.
  var maxSize: UInt64 { min(settings.maxUpload ?? .max, store.largestUpload) }

  /// Of an upload that was begun they do not shrink, whatever the settings are now.
  /// - Parameters:
  ///   - upload: `nil`: what holds for a new one.
  ///   - now: wall clock, seconds since 1970.
  func limits(for upload: SpooledUpload? = nil, now: Int64) -> UploadLimits {
    let left = upload?.status.expires.map { max(0, $0 - now) }
    return UploadLimits(maxSize: max(maxSize, upload?.largest ?? 0), minSize: settings.minResumable, maxAge: left)
  }
}

extension CORSPolicy {
  init(_ setting: UploadSettings.CrossOrigin) {
    switch setting {
    case .off: self.init(Allowed.off)
    case .any: self.init(Allowed.any)
    case .origins(let origins): self.init(Allowed.origins(origins.map { Array($0.utf8) }))
    }
  }
}
