import PawlBase
import PawlDisk
import PawlUpload
import PawlUploadStore

/// `/v1/uploads`: the uploads of all open spools, as their catalogues have them, the oldest first. Blocking.
enum AdminUploads {
  static let usualLimit = 1000
  static let mostLimit = 10_000

  struct Page: Sendable {
    var state: String?
    var limit: Int
    /// The ID of the last upload of the page before.
    var cursor: String?

    /// `nil`: a value is none of those that it may be.
    init?(_ query: AdminQuery) {
      guard let limit = query.count("limit", usually: usualLimit, atMost: mostLimit) else { return nil }
      (self.limit, cursor, state) = (limit, query["cursor"], query["state"])
      if let state, !UploadPhase.allCases.contains(where: { "\($0)" == state }) { return nil }
    }
  }

  static func reply(_ paths: [String], _ page: Page) -> AdminReply {
    var found: [(spool: String, upload: UploadSummary)] = []
    for path in paths {
      do throws(StoreError) {
        found += try UploadCatalogueReading.list(path).map { (path, $0) }
      } catch { return .problem(500, "cannot read the spool \(path): \(error)") }
    }
    if let state = page.state { found.removeAll { "\($0.upload.phase)" != state } }
    found.sort { ($0.upload.createdAt, $0.upload.id.hex) < ($1.upload.createdAt, $1.upload.id.hex) }
    if let cursor = page.cursor {
      guard let index = found.firstIndex(where: { $0.upload.id.hex == cursor }) else {
        return .problem(410, "The upload of the cursor is gone: begin again without cursor.")
      }
      found.removeFirst(index + 1)
    }
    let shown = found.prefix(page.limit)
    return AdminReply.object { json in
      json.member(
        "uploads", array: { array in for entry in shown { entry.upload.write(to: &array, spool: entry.spool) } })
      json.member("more", max(0, found.count - shown.count))
      json.member("next", found.count > shown.count ? shown.last?.upload.id.hex : nil)
    }
  }
}
