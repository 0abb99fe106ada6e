/* Calls of the API that go on when the network, the server or its limits get in the way. */
import { setTimeout as sleep } from 'node:timers/promises'
import createFetchClient, { type Client } from 'openapi-fetch'
import type { Problem, paths } from 'platform-api-client'

/** How long (ms) one call may take, and the longest wait before it is repeated. */
const CALL_WITHIN = 30_000
const LONGEST_WAIT = 60_000

/** The typed calls alone. What is repeated, and for how long, is decided here: a mirror has no one who waits for it. */
export type HttpClient = Client<paths>

/** The API has refused a call, and would refuse it again. */
export class Refused extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

export type Api = {
  client: HttpClient
  /**
   * Makes a call. While the API does not answer, or answers 429 or 5xx, the call is repeated.
   *
   * @throws {Refused}
   */
  ask<T>(call: () => Promise<Answer<T>>): Promise<T>
  /** As `ask`. @returns null if the API answers with one of these codes */
  askUnless<T>(codes: readonly string[], call: () => Promise<Answer<T>>): Promise<T | null>
}
type Answer<T> = { data?: T; error?: Problem; response: Response }

export type ApiOptions = {
  url: string
  project: string
  token: string
  /** Ends all calls and waits. */
  signal: AbortSignal
  /** Prints a line. */
  say: (line: string) => void
  /** Give up if the API has not answered for so long (ms). */
  patience: number
}

export function newApi({ url, project, token, signal, say, patience }: ApiOptions): Api {
  const client = createFetchClient<paths>({
    baseUrl: url,
    headers: { Authorization: `Bearer ${token}`, 'X-Project-Id': project },
    fetch: (request) => fetch(request, { signal: AbortSignal.any([signal, AbortSignal.timeout(CALL_WITHIN)]) }),
  })

  async function ask<T>(call: () => Promise<Answer<T>>): Promise<T> {
    const began = Date.now()
    for (let failures = 1; ; failures++) {
      const { data, refused, reason, wait } = await attempt(call)
      if (data !== undefined) return data
      if (refused) throw refused
      signal.throwIfAborted()
      if (Date.now() - began > patience) throw new Error(`${reason}. Giving up.`)
      const delay = Math.max(wait, Math.min(LONGEST_WAIT, 1000 * 2 ** (failures - 1)) * (0.75 + Math.random() / 2))
      say(`${reason}. Trying again in ${(delay / 1000).toFixed(1)} s.`)
      await sleep(delay, undefined, { signal })
    }
  }

  async function askUnless<T>(codes: readonly string[], call: () => Promise<Answer<T>>): Promise<T | null> {
    try {
      return await ask(call)
    } catch (error) {
      if (error instanceof Refused && codes.includes(error.code)) return null
      throw error
    }
  }
  return { client, ask, askUnless }
}

type Attempt<T> = { data?: T; refused?: Refused; reason: string; wait: number }

async function attempt<T>(call: () => Promise<Answer<T>>): Promise<Attempt<T>> {
  try {
    const { data, error, response } = await call()
    if (data !== undefined) return { data, reason: '', wait: 0 }
    const wait = 1000 * (Number(response.headers.get('Retry-After')) || 0)
    const reason = `The API answered ${response.status}${error?.code ? ` ${error.code}` : ''}`
    // Without a code, it is not the API that answers, but something before it, which knows nothing of its objects.
    const isRefused = response.status < 500 && response.status !== 429 && error?.code !== undefined
    return isRefused
      ? { refused: new Refused(error.code, `${reason}: ${error.detail ?? error.title}`), reason, wait }
      : { reason, wait }
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string } }
    return { reason: `The API does not answer (${cause?.code ?? message})`, wait: 0 }
  }
}

/** Does something with each item, several at the same time. @returns the results in order */
export async function inParallel<T, R>(items: readonly T[], work: (item: T) => Promise<R>, atOnce = 8): Promise<R[]> {
  const results: R[] = []
  const queue = items.entries()
  const worker = async () => {
    for (const [i, item] of queue) results[i] = await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return results
}
