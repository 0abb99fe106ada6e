import { sleep } from './terminal.ts'

export type Call = {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  token?: string
  project?: string
  json?: unknown
  body?: Uint8Array<ArrayBuffer>
  headers?: Record<string, string>
  /** How often it is tried at most, where the server says 429 or 503. */
  patience?: number
}

/** An answer of the API, whatever its status. */
export type Answer<T> = { status: number; body: T }
/** The parts of problem+json that are worth showing. */
export type Problem = { code?: string; detail?: string; title?: string }

/** How often a request waits out a 429 or a 503 before it gives up. */
const PATIENCE = 6

/** One request. A 429 or 503 is waited out, as its Retry-After says. @throws where the server is not reached */
export async function ask<T>(url: string, call: Call = {}): Promise<Answer<T | Problem>> {
  const { token, project, json, body } = call
  const headers: Record<string, string> = { ...call.headers }
  if (token !== undefined) headers.Authorization = `Bearer ${token}`
  if (project !== undefined) headers['X-Project-Id'] = project
  if (json !== undefined) headers['Content-Type'] = 'application/json'
  for (let round = 1; ; round++) {
    const response = await fetch(url, {
      method: call.method ?? (json === undefined && body === undefined ? 'GET' : 'POST'),
      headers,
      ...(json !== undefined && { body: JSON.stringify(json) }),
      ...(body !== undefined && { body }),
    }).catch((error: Error) => {
      throw new Error(`${new URL(url).origin} does not answer (${reasonOf(error)}). Is the server running? npm start`)
    })
    const text = await response.text()
    if ((response.status === 429 || response.status === 503) && round < (call.patience ?? PATIENCE)) {
      await sleep(1000 * Number(response.headers.get('Retry-After') ?? 5))
      continue
    }
    return { status: response.status, body: parse<T>(text) }
  }
}

/** As {@link ask}, for answers that have to be good. @throws what the server said instead */
export async function must<T>(url: string, call: Call = {}): Promise<T> {
  const { status, body } = await ask<T>(url, call)
  if (status < 400) return body as T
  throw new Error(
    `${call.method ?? ''} ${new URL(url).pathname} was answered ${status}: ${explain(body as Problem)}`.trim(),
  )
}

/** What a problem says, in one line. */
export function explain(problem: Problem): string {
  return [problem.code, problem.detail ?? problem.title].filter(Boolean).join(': ') || 'no reason was given'
}

function parse<T>(text: string): T | Problem {
  try {
    return JSON.parse(text) as T
  } catch {
    return { detail: text.slice(0, 300) }
  }
}

function reasonOf(error: Error): string {
  return error.cause instanceof Error ? error.cause.message || error.cause.name : error.message
}
