import PawlConfig
import PawlUpload
import PawlUploadStore

/// The upload settings of a route with `uploads = on`.
final class UploadRoute: Sendable {
  let store: UploadStore
  /// The directory of the spool; temporary files are in it, too.
  let directory: String
  /// The path below which this site's upload URLs are; begins and ends with `/`.
  let prefix: [UInt8]
  let dispatch: DispatchPolicy
  let settings: UploadSettings
  let cors: CORSPolicy
  let delivery: DeliveryPolicy.Delivery

  /// - Parameter prefix: the path of the upload URLs; `nil`: the path in the settings.
  init(_ settings: SiteSettings, store: UploadStore, directory: String, prefix: [UInt8]? = nil) {
    (self.settings, self.store, self.directory) = (settings.upload, store, directory)
    self.prefix = prefix ?? Array(settings.uploadPrefix.utf8)
    dispatch = DispatchPolicy(
      uploadPrefix: self.prefix, minResumable: settings.upload.minResumable, allowsFinal: settings.upload.finalDialect)
    cors = CORSPolicy(settings.upload.cors)
    delivery = settings.upload.delivery == .atLeastOnce ? .atLeastOnce : .atMostOnce
  }

  /// The size in bytes of the largest upload that is accepted.
  var maxSize: UInt64 { min(settings.maxUpload ?? .max, store.largestUpload) }

  /// Returns the limits of an upload. New settings do not reduce the limits of an existing upload.
  /// - Parameters:
  ///   - upload: the upload; `nil`: a new upload.
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
