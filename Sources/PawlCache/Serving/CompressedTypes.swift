package import PawlHTTP

/// Media types whose content is text, or becomes as much smaller as text does. Chosen from those that Cloudflare and HTML5 Boilerplate
/// compress. Not among them is what is compressed already (WOFF, most images, archives, PDF), and `text/event-stream`, for which a
/// pattern does not count (``CompressionRules``).
package enum CompressedTypes {
  package static let text: [MediaTypePattern] = [
    "text/*", "application/json", "application/*+json", "application/xml", "application/*+xml",
    "application/javascript", "application/x-javascript", "application/ecmascript", "application/yaml",
    "application/rtf", "application/sql", "application/graphql", "application/vnd.apple.mpegurl",
    "application/x-mpegurl", "application/wasm",
    "image/svg+xml", "image/bmp", "image/x-icon", "image/vnd.microsoft.icon",
    "font/ttf", "font/otf", "font/collection", "application/vnd.ms-fontobject", "model/gltf+json",
  ].map(MediaTypePattern.init)
}
