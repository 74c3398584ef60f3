// In a browser: uploads the bytes of /page/file, with tus-js-client or by hand with XMLHttpRequest.
// `state` is read from outside: progress in bytes, and at the end "success" or an error.
const state = { progress: 0, end: null, notes: [] }

async function theFile() {
  const answer = await fetch('/page/file')
  return new File([await answer.blob()], 'naïve name.bin', { type: 'video/mp4', lastModified: 1700000000000 })
}

/// tus-js-client, as an application uses it; `again`: with an upload that an earlier page began.
async function withTusJS(endpoint, options, again) {
  const file = await theFile()
  const upload = new tus.Upload(file, {
    endpoint,
    retryDelays: Array(12).fill(200),
    metadata: { filename: file.name, filetype: file.type },
    ...options,
    onProgress: (sent) => { state.progress = sent },
    onError: (error) => { state.end = String(error) },
    onSuccess: (payload) => {
      state.origin = payload?.lastResponse?.getHeader?.('Pawl-Origin-Status') ?? null
      state.url = upload.url
      state.end = 'success'
    },
  })
  window.upload = upload
  const earlier = await upload.findPreviousUploads()
  state.earlier = earlier.length
  if (again && earlier.length) upload.resumeFromPreviousUpload(earlier[0])
  upload.start()
}

/// Uppy with its tus plugin.
async function withUppy(endpoint, options) {
  const file = await theFile()
  const uppy = new Uppy.Uppy({ autoProceed: false })
  uppy.use(Uppy.Tus, { endpoint, retryDelays: Array(12).fill(200), allowedMetaFields: ['name', 'type'], ...options })
  uppy.on('upload-progress', (_, progress) => { state.progress = progress.bytesUploaded })
  uppy.addFile({ name: file.name, type: file.type, data: file })
  const result = await uppy.upload()
  state.url = result.successful[0]?.uploadURL
  state.end = result.successful.length === 1 && state.url ? 'success' : String(result.failed[0]?.error)
}

function send(method, url, fields, body) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest()
    request.open(method, url)
    for (const [name, value] of Object.entries(fields)) request.setRequestHeader(name, value)
    request.upload.onprogress = (event) => { if (body) state.progress = event.loaded }
    request.onloadend = () => {
      state.notes.push(`${method} ${request.status} offset ${request.getResponseHeader('Upload-Offset')}`)
      resolve(request)
    }
    request.send(body ?? null)
  })
}

/// The least a page has to do: create, send, ask, send the rest. `draft`: null for tus, else the interop version; `more`: fields of every request.
async function byHand(endpoint, draft, more = {}) {
  const file = await theFile()
  const common = { ...more, ...(draft ? { 'Upload-Draft-Interop-Version': String(draft) } : { 'Tus-Resumable': '1.0.0' }) }
  const creation = { ...common, 'Upload-Length': String(file.size) }
  if (draft) Object.assign(creation, { 'Upload-Complete': '?0', 'Content-Type': file.type })
  else creation['Upload-Metadata'] = `filename ${btoa('by hand.bin')},filetype ${btoa(file.type)}`
  const made = await send('POST', endpoint, creation)
  const location = made.getResponseHeader('Location')
  if (made.status !== 201 || !location) { state.end = `creation: ${made.status} ${location}`; return }
  const url = new URL(location, endpoint).href
  let offset = 0
  for (let tries = 0; tries < 12; tries++) {
    const fields = { ...common, 'Upload-Offset': String(offset) }
    fields['Content-Type'] = draft ? 'application/partial-upload' : 'application/offset+octet-stream'
    if (draft) fields['Upload-Complete'] = '?1'
    const answer = await send('PATCH', url, fields, file.slice(offset))
    if (answer.status >= 200 && answer.status < 300) {
      if (answer.getResponseHeader('Upload-Offset') !== String(file.size)) state.end = `offset ${answer.getResponseHeader('Upload-Offset')}`
      state.status = answer.status
      state.text = answer.responseText
      state.origin = answer.getResponseHeader('Pawl-Origin-Status')
      state.end ??= 'success'
      return
    }
    await new Promise((resolve) => setTimeout(resolve, 200))
    const head = await send('HEAD', url, common)
    const told = head.getResponseHeader('Upload-Offset')
    if (told !== null) offset = Number(told)
  }
  state.end = 'too many tries'
}
