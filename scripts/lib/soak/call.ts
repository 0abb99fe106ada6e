import { type Answer, ask, type Call } from '../api.ts'

/** One request, sent once. @returns status 0 where no answer came: what it did, if anything, is not known */
export async function call<T = unknown>(url: string, options: Call = {}): Promise<Answer<T>> {
  try {
    return (await ask<T>(url, { ...options, patience: 1 })) as Answer<T>
  } catch {
    return { status: 0, body: undefined as T }
  }
}
