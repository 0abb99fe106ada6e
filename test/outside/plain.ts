import { setTimeout as sleep } from 'node:timers/promises'
import type { Handler } from './hosts.ts'

/**
 * One response of a plain host. `trouble`: `silent` never answers, `slow` sends a body without an end a byte at a time, and `endless`
 * sends one as fast as it can.
 */
export type Plain = {
  status?: number
  headers?: Record<string, string>
  body?: string
  trouble?: 'silent' | 'slow' | 'endless'
}

/** `*.plain.dev`: answers each path with what a test has set for it, and all others with 404. */
export const plain: Handler = (request, { settings }) =>
  plainResponse((settings[new URL(request.url).pathname] as Plain | undefined) ?? { status: 404 })

/** The response that a test has described. */
export async function plainResponse({ status = 200, headers, body, trouble }: Plain): Promise<Response> {
  if (trouble === 'silent') await new Promise(() => {})
  if (trouble)
    return new Response(bytesOf(trouble), { status, headers: { 'Content-Type': 'application/json', ...headers } })
  return new Response(body ?? null, { status, headers: { 'Content-Type': 'application/json', ...headers } })
}

/** It stops after a while without an end: whoever has lost interest is not always noticed here. */
function bytesOf(trouble: NonNullable<Plain['trouble']>): ReadableStream<Uint8Array> {
  const chunk = new Uint8Array(trouble === 'endless' ? 65_536 : 1).fill(32)
  let left = 100
  return new ReadableStream({
    async pull(controller) {
      if (left-- === 0) await new Promise(() => {})
      if (trouble !== 'endless') await sleep(20)
      controller.enqueue(chunk)
    },
  })
}
