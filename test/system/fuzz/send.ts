import { Agent, request } from 'node:http'

/** A raw request. The path is sent unchanged, without normalization. */
export type Wire = { method: string; path: string; headers: Record<string, string>; body: Buffer<ArrayBuffer> | null }
export type Reply = { status: number; headers: Record<string, string | string[] | undefined>; text: string }

const agent = new Agent({ keepAlive: true, maxSockets: 16 })
const TIMEOUT_MS = 30_000

/** Sends a request to a port of this machine. @throws if there is no response */
export function send(port: number, { method, path, headers, body }: Wire): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const call = request({ agent, host: '127.0.0.1', port, method, path, headers, timeout: TIMEOUT_MS }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('error', reject)
      answer.on('end', () =>
        resolve({
          status: answer.statusCode ?? 0,
          headers: answer.headers,
          text: Buffer.concat(chunks).toString('utf8'),
        }),
      )
    })
    call.on('timeout', () => call.destroy(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)))
    call.on('error', reject)
    call.end(body ?? undefined)
  })
}

/** The same request as a curl command. */
export function curlOf(url: string, { method, path, headers, body }: Wire): string {
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  const parts = ['curl -sS --path-as-is -i -X', method, quote(url + path)]
  for (const [name, value] of Object.entries(headers)) {
    if (name.toLowerCase() !== 'content-length') parts.push('-H', quote(`${name}: ${value}`))
  }
  if (!body) return parts.join(' ')
  const text = body.toString('utf8')
  if (Buffer.from(text).equals(body) && !text.includes('\0')) return [...parts, '--data-binary', quote(text)].join(' ')
  return `printf %s ${quote(body.toString('base64'))} | base64 -d | ${parts.join(' ')} --data-binary @-`
}
