import { isLocal } from './local-url.ts'
import { ELSEWHERE } from './paths.ts'
import { sleep } from './terminal.ts'

export type Call = {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  token?: string
  project?: string
  json?: unknown
  body?: Uint8Array<ArrayBuffer>
  headers?: Record<string, string>
  /** Attempts in total if the server returns 429 or 503. */
  patience?: number
}

/** A response of the API with any status. */
export type Answer<T> = { status: number; body: T }
/** The fields of problem+json that the scripts print. */
export type Problem = { code?: string; detail?: string; title?: string }

/** Attempts by default if the server returns 429 or 503. */
const PATIENCE = 6

/** Sends one request. After a 429 or 503 it waits as Retry-After says. @throws if the server cannot be reached */
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
      const hint = isLocal(url) ? `\nIs the server running? Start it with npm start.\n${ELSEWHERE}` : ''
      throw new Error(`${new URL(url).origin} does not answer (${reasonOf(error)}).${hint}`)
    })
    const text = await response.text()
    if ((response.status === 429 || response.status === 503) && round < (call.patience ?? PATIENCE)) {
      await sleep(1000 * Number(response.headers.get('Retry-After') ?? 5))
      continue
    }
    return { status: response.status, body: parse<T>(text) }
  }
}

/** As {@link ask}, but the response must be a success. @throws with the server's error */
export async function must<T>(url: string, call: Call = {}): Promise<T> {
  const { status, body } = await ask<T>(url, call)
  if (status < 400) return body as T
  throw new Error(
    `${call.method ?? ''} ${new URL(url).pathname} returned ${status}: ${explain(body as Problem)}`.trim(),
  )
}

/**
 * The first object of a list with this name, if it counts.
 *
 * @param list the address of the list
 */
export async function findByName<T extends { name: string }>(
  list: string,
  caller: Pick<Call, 'token' | 'project'>,
  name: string,
  counts: (object: T) => boolean = () => true,
): Promise<T | undefined> {
  let cursor = ''
  for (;;) {
    const page = await must<{ data: T[]; next_cursor: string | null }>(`${list}?limit=100${cursor}`, caller)
    const one = page.data.find((object) => object.name === name && counts(object))
    if (one || page.next_cursor === null) return one
    cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`
  }
}

/** A problem as one line of text. */
export function explain(problem: Problem): string {
  return [problem.code, problem.detail ?? problem.title].filter(Boolean).join(': ') || 'no reason given'
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
