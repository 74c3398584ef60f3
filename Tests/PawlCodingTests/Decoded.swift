import CBrotli
import CZlib
import CZstd
import PawlHTTP

/// What the libraries' own decoders make of bytes.
struct Decoded: Equatable {
  var content: [UInt8] = []
  /// Whether the content ended there, with the last byte.
  var isWhole = false
  var isBroken = false

  init(_ bytes: [UInt8], as coding: ContentCoding) {
    switch coding {
    case .gzip: gunzip(bytes)
    case .brotli: unbrotli(bytes)
    case .zstd: unzstd(bytes)
    }
  }

  private mutating func gunzip(_ bytes: [UInt8]) {
    var (stream, room) = (z_stream(), [UInt8](repeating: 0, count: 1 << 16))
    guard pawl_gunzip_init(&stream) == Z_OK else { return }
    defer { inflateEnd(&stream) }
    var bytes = bytes
    bytes.withUnsafeMutableBufferPointer { input in
      stream.next_in = input.baseAddress
      stream.avail_in = UInt32(input.count)
      var code = Z_OK
      repeat {
        let written = room.withUnsafeMutableBufferPointer { output in
          stream.next_out = output.baseAddress
          stream.avail_out = UInt32(output.count)
          code = inflate(&stream, Z_NO_FLUSH)
          return output.count - Int(stream.avail_out)
        }
        content += room[..<written]
      } while code == Z_OK
      isWhole = code == Z_STREAM_END && stream.avail_in == 0
      isBroken = code != Z_STREAM_END && code != Z_BUF_ERROR
    }
  }

  private mutating func unbrotli(_ bytes: [UInt8]) {
    let decoder = BrotliDecoderCreateInstance(nil, nil, nil)
    defer { BrotliDecoderDestroyInstance(decoder) }
    var room = [UInt8](repeating: 0, count: 1 << 16)
    bytes.withUnsafeBufferPointer { input in
      var (next, left) = (input.baseAddress, input.count)
      var result = BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT
      // It may ask for input while it holds output still.
      while result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT || BrotliDecoderHasMoreOutput(decoder) != 0 {
        let written = room.withUnsafeMutableBufferPointer { output in
          var (target, free) = (output.baseAddress, output.count)
          result = BrotliDecoderDecompressStream(decoder, &left, &next, &free, &target, nil)
          return output.count - free
        }
        content += room[..<written]
      }
      isWhole = result == BROTLI_DECODER_RESULT_SUCCESS && left == 0
      isBroken = result == BROTLI_DECODER_RESULT_ERROR
    }
  }

  private mutating func unzstd(_ bytes: [UInt8]) {
    let decoder = ZSTD_createDCtx()
    defer { ZSTD_freeDCtx(decoder) }
    // What a browser takes at most (RFC 9659 §3).
    ZSTD_DCtx_setParameter(decoder, ZSTD_d_windowLogMax, 23)
    var room = [UInt8](repeating: 0, count: 1 << 16)
    bytes.withUnsafeBytes { bytes in
      var input = ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: 0)
      var (left, written) = (1, 0)
      repeat {
        written = room.withUnsafeMutableBytes { bytes in
          var output = ZSTD_outBuffer(dst: bytes.baseAddress, size: bytes.count, pos: 0)
          left = ZSTD_decompressStream(decoder, &output, &input)
          return output.pos
        }
        if ZSTD_isError(left) != 0 { return isBroken = true }
        content += room[..<written]
      } while left != 0 && (input.pos < input.size || written == room.count)
      isWhole = left == 0 && input.pos == input.size
    }
  }
}
