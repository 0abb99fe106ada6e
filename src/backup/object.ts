import { sha256Hex, utf8 } from '../lib/crypto'
import type { Chunk, LargeValue } from './read'

/** What an object of a backup holds: rows of one table. `columns`: what the values of a row are called. */
export type Content = Chunk & { table: string; columns: readonly string[] }

/** An object as the manifest lists it. `sha256`: of its bytes as they are stored. */
export type Listed = { name: string; table: string; rows: number; bytes: number; sha256: string }

type Bytes = Uint8Array<ArrayBuffer>

/** Its lines: what it holds, the rows, the large values. The whole is compressed. */
export async function packObject({ table, columns, rows, large }: Content): Promise<Bytes> {
  const head = JSON.stringify({ table, columns, rows: rows.length, large: large.length })
  return through([head, ...rows, ...large.map((one) => JSON.stringify(one))].join('\n'), new CompressionStream('gzip'))
}

/**
 * Reads an object.
 *
 * @throws {Error} if its bytes are not those of the manifest
 */
export async function unpackObject(listed: Listed, bytes: Bytes): Promise<Content> {
  const sha256 = await sha256Hex(bytes)
  if (sha256 !== listed.sha256) {
    throw new Error(
      `the object ${listed.name} has changed: its SHA-256 is ${sha256}, the manifest says ${listed.sha256}`,
    )
  }
  const text = new TextDecoder().decode(await through(bytes, new DecompressionStream('gzip')))
  const [head = '', ...lines] = text.split('\n')
  const { table, columns, rows } = JSON.parse(head) as { table: string; columns: string[]; rows: number }
  const large = lines.slice(rows).map((line) => JSON.parse(line) as LargeValue)
  return { table, columns, rows: lines.slice(0, rows), large }
}

async function through(data: string | Bytes, stream: CompressionStream | DecompressionStream): Promise<Bytes> {
  const body = new Blob([typeof data === 'string' ? utf8(data) : data]).stream().pipeThrough(stream)
  return new Uint8Array(await new Response(body).arrayBuffer())
}
