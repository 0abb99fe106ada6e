import { Fault } from '../lib/fault'

/**
 * Reads the whole body. It stops at the limit and cancels the rest.
 *
 * @param max the largest body, in bytes
 * @throws {Fault} `payload_too_large`
 */
export async function readBytes(request: Request, max: number): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = () => new Fault('payload_too_large', `Send at most ${max} bytes.`)
  if (Number(request.headers.get('Content-Length') ?? 0) > max) throw tooLarge()
  const chunks: Uint8Array[] = []
  let size = 0
  // Leaving the loop early cancels the stream.
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength
    if (size > max) throw tooLarge()
    chunks.push(chunk)
  }
  const bytes = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.byteLength
  }
  return bytes
}
