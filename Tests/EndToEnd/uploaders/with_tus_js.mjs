// Uploads FILE to ENDPOINT with tus-js-client in Node, which resumes by itself.
// Usage: PAWL_NODE_MODULES=DIR node with_tus_js.mjs ENDPOINT FILE '{"protocol": "tus-v1", ...}' [STORE]
// Options are the library's own; "buffer" reads the file first, "again" looks for an earlier upload in STORE.
import { createReadStream, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

const require = createRequire(path.join(path.resolve(process.env.PAWL_NODE_MODULES), 'here.js'))
const tus = require('tus-js-client')

const [endpoint, file, text, store] = process.argv.slice(2)
const { buffer, ...options } = JSON.parse(text || '{}')
let last = null
const upload = new tus.Upload(buffer ? readFileSync(file) : createReadStream(file), {
  endpoint,
  retryDelays: Array(12).fill(100),
  metadata: { filename: 'naïve name.bin', filetype: 'video/mp4' },
  ...(store ? { urlStorage: new tus.FileUrlStorage(store), fingerprint: async () => 'the-file' } : {}),
  ...options,
  onAfterResponse: (request, response) => { last = response.getStatus() },
  onError: (error) => { console.error(String(error)); process.exit(1) },
  onSuccess: (payload) => {
    console.log(JSON.stringify({ url: upload.url, status: last, origin: payload?.lastResponse?.getHeader?.('Pawl-Origin-Status') ?? null }))
    process.exit(0)
  },
})
const earlier = store ? await upload.findPreviousUploads() : []
console.error(`earlier uploads: ${earlier.length}`)
if (earlier.length) upload.resumeFromPreviousUpload(earlier[0])
upload.start()
