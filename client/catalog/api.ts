/* The three calls about a whole catalog. They are repeated while the service does not answer, or is over a limit. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Catalog, CatalogPreview, CatalogWritten, Problem } from 'platform-api-client'

/** How long (ms) one call may take, how long in all it is repeated, and the longest wait in between. */
const CALL_WITHIN = 60_000
const PATIENCE = 5 * 60_000
const LONGEST_WAIT = 30_000

/** The service has refused a call, and would refuse it again. */
export class Refusal extends Error {
  readonly code: string
  readonly errors: NonNullable<Problem['errors']>
  constructor({ status, code, detail, title, errors = [] }: Problem) {
    super(`The API answered ${status} ${code}: ${detail ?? title}`)
    this.code = code
    this.errors = errors
  }
}

export type CatalogApi = {
  read(): Promise<Catalog>
  /** What a document would write, and what that would make of all consumers. `changes`: the first ones. */
  preview(document: unknown): Promise<CatalogPreview>
  /** @param version of the catalog that the document is written over */
  write(document: unknown, version: string): Promise<CatalogWritten>
}

type CatalogApiOptions = { url: string; project: string; token: string; say: (line: string) => void }
type Call = { path?: string; body?: unknown; headers?: Record<string, string> }

export function newCatalogApi({ url, project, token, say }: CatalogApiOptions): CatalogApi {
  async function ask<T>(method: string, { path = '', body, headers }: Call = {}): Promise<T> {
    const began = Date.now()
    for (let failures = 0; ; failures++) {
      const answer = await attempt<T>(`${url}/platform/v1/billing/catalog${path}`, {
        method,
        headers: {
          ...{ Authorization: `Bearer ${token}`, 'X-Project-Id': project, ...headers },
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(CALL_WITHIN),
      })
      if ('data' in answer) return answer.data
      if (Date.now() - began > PATIENCE) throw new Error(`${answer.reason}. Giving up.`)
      const wait = Math.max(answer.wait, Math.min(LONGEST_WAIT, 1000 * 2 ** failures) * (0.75 + Math.random() / 2))
      say(`${answer.reason}. Trying again in ${(wait / 1000).toFixed(1)} s.`)
      await sleep(wait)
    }
  }

  async function preview(body: unknown): Promise<CatalogPreview> {
    let sum = await ask<CatalogPreview>('POST', { path: '/preview', body })
    while (sum.next_cursor !== null) {
      const path = `/preview?cursor=${encodeURIComponent(sum.next_cursor)}`
      const next = await ask<CatalogPreview>('POST', { path, body })
      sum = {
        ...next,
        examined: sum.examined + next.examined,
        affected: sum.affected + next.affected,
        gains: added(sum.gains, next.gains),
        losses: added(sum.losses, next.losses),
        reductions: added(sum.reductions, next.reductions),
        changes: sum.changes.length > 0 ? sum.changes : next.changes,
      }
    }
    return sum
  }

  return {
    read: () => ask('GET'),
    preview,
    write: (body, version) => ask('PUT', { body, headers: { 'If-Match': `"${version}"` } }),
  }
}

type Counts = Record<string, number>

function added(a: Counts, b: Counts): Counts {
  const keys = new Set([...Object.keys(a), ...Object.keys(b)])
  return Object.fromEntries([...keys].map((key) => [key, (a[key] ?? 0) + (b[key] ?? 0)]))
}

/** @throws {Refusal} */
async function attempt<T>(url: string, init: RequestInit): Promise<{ data: T } | { reason: string; wait: number }> {
  let response: Response
  let body: unknown
  try {
    response = await fetch(url, init)
    body = await response.json().catch(() => null)
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string } }
    return { reason: `The API does not answer (${cause?.code ?? message})`, wait: 0 }
  }
  if (response.ok && body !== null) return { data: body as T }
  const problem = body as Problem | null
  // Without a code, it is not the API that answers, but something before it.
  if (problem?.code !== undefined && response.status < 500 && response.status !== 429) throw new Refusal(problem)
  const wait = 1000 * (Number(response.headers.get('Retry-After')) || 0)
  return { reason: `The API answered ${response.status}${problem?.code ? ` ${problem.code}` : ''}`, wait }
}
