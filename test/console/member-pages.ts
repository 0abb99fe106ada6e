import { mailbox } from '../harness'
import type { visit } from './visit'

export const at = (project: string, rest = '') => `/console/p/${project}/platform/settings/members${rest}`
export const withMail = () => ({ bindings: { EMAIL: mailbox().EMAIL } })

/** What a form answers: the status, where it leads, and what it says is wrong. */
export async function told(answer: ReturnType<typeof visit>) {
  const { status, headers, text } = await answer
  const wrong = [...text.matchAll(/<p class="wrong"[^>]*>(.*?)<\/p>/gs)].map(([, said]) => said)
  return { status, location: headers.get('Location'), wrong }
}
export const leadsTo = (path: string, done: string) => ({ status: 303, location: `${path}?done=${done}`, wrong: [] })

/** The part of a page that is about one row. */
export function rowOf(text: string, email: string): string {
  const rows = [...text.matchAll(/<tr>.*?<\/tr>/gs)].map(([row]) => row)
  return rows.find((row) => row.includes(email)) ?? ''
}
