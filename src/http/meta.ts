import type * as z from 'zod'
import type { Scope } from '../lib/access'
import type { FaultName } from '../lib/fault'
import type { Policy } from './auth'

/** What a route says of itself: its policy, its documentation, its schemas. */
export type Meta = {
  operation?: Operation
  body?: z.ZodType
  query?: z.ZodType
  page?: PagePolicy
}

/** The parts that the API's document is sorted into. */
export const TAGS = {
  'API keys': 'Project-bound credentials: mint, list, rotate, revoke.',
  'Audit log': 'Who changed what, and when.',
  'Billing connections': 'Where a vendor sends its events, and the secrets they are signed with.',
  'Billing state': "Subscriptions, invoices and payment methods, as the vendors' events say.",
  Ingest: 'The address that vendors send to.',
  Projects: 'What everything else belongs to.',
  Service: 'About the service itself.',
  Sessions: 'Codes by e-mail, and the sessions of people.',
  'Billing webhooks': 'Recorded events: list, search, replay, health and lag.',
}
export type Tag = keyof typeof TAGS
/** Who may see a page of the console: anyone, any signed-in user, or who has this scope in the path's project. */
export type PagePolicy = 'anyone' | 'user' | Scope

export type Operation = {
  /** The operationId: unique, camelCase. */
  id: string
  summary: string
  description?: string
  tag: Tag
  /** Null for a route that takes no credential. */
  policy: Policy | null
  responses: Record<number, { description: string; schema?: z.ZodType }>
  /** Faults beyond those of credentials, validation and limits, which follow from the policy. */
  faults?: readonly FaultName[]
  /** A body that is no JSON of ours, by media type. */
  rawBody?: string
  /** Request headers of note: name → description. */
  headers?: Record<string, string>
}

/** Metadata by middleware function: the route table is walked for policies (tests) and for OpenAPI. */
export const META = new WeakMap<object, Meta>()

/** Remembers what a middleware stands for. Returns it unchanged. */
export function remember<T extends object>(middleware: T, meta: Meta): T {
  META.set(middleware, { ...META.get(middleware), ...meta })
  return middleware
}
