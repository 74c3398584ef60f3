package import PawlHTTP

/// Media types whose content is text, or can be compressed about as well as text. They were chosen from the types that Cloudflare
/// and HTML5 Boilerplate compress. Formats that are compressed already are not in the list (WOFF, most images, archives, PDF).
/// `text/event-stream` is not in the list either; no pattern covers it (``CompressionRules``).
package enum CompressedTypes {
  /// Whether content of this type is already compressed by its format, so that another compression is useless.
  package static func isCompressedItself(_ type: Bytes) -> Bool {
    compressed.contains { $0.matches(type) } && !text.contains { $0.matches(type) }
  }

  private static let compressed = [
    "image/*", "audio/*", "video/*", "font/woff", "font/woff2", "application/zip", "application/gzip",
    "application/x-gzip", "application/zstd", "application/x-xz", "application/x-bzip2", "application/x-7z-compressed",
    "application/vnd.rar", "application/x-rar-compressed", "application/java-archive", "application/epub+zip",
    "application/vnd.android.package-archive", "application/vnd.debian.binary-package",
    "application/x-debian-package", "application/x-rpm",
  ].map(MediaTypePattern.init)

  package static let text: [MediaTypePattern] = [
    "text/*", "application/json", "application/*+json", "application/xml", "application/*+xml",
    "application/javascript", "application/x-javascript", "application/ecmascript", "application/yaml",
    "application/rtf", "application/sql", "application/graphql", "application/vnd.apple.mpegurl",
    "application/x-mpegurl", "application/wasm",
    "image/svg+xml", "image/bmp", "image/x-icon", "image/vnd.microsoft.icon",
    "font/ttf", "font/otf", "font/collection", "application/vnd.ms-fontobject", "model/gltf+json",
  ].map(MediaTypePattern.init)
}
