import { type Answer, ask, type Call } from '../../../scripts/lib/api.ts'

/** Sends one request once. @returns status 0 if there was no response: whether it had an effect is unknown */
export async function call<T = unknown>(url: string, options: Call = {}): Promise<Answer<T>> {
  try {
    return (await ask<T>(url, { ...options, patience: 1 })) as Answer<T>
  } catch {
    return { status: 0, body: undefined as T }
  }
}
